// What a sweep over sparse components is asked, hard or by first variation, in plain structures: the
// same for every instruction set. See data/moved.py.
#pragma once

#include <cstdint>
#include <vector>

namespace spheremix {

// IN: components in CSR form, of which `members` are scored.
struct SparseComponents {
    const std::int64_t* indptr;      // (n_components + 1,)
    const std::int32_t* indices;
    const double* values;
    const double* biases;            // (n_components,)
    std::int64_t n_components, n_features;
    const std::int32_t* members;     // (n_members,), increasing
    std::int64_t n_members;

    bool all() const { return n_members == n_components; }
};

// INOUT, for each row: its owner (the first component of the largest score), that score, and a bound
// of the scores of all others. OUT open: where the members alone do not say who the owner is. With
// pulls the owner is the one by first variation, all components are members, and there is no bound.
struct Winners {
    const unsigned char* is_member;  // (n_components,)
    std::int32_t* owners;
    double* scores;
    double* seconds;
    unsigned char* open;
    const double* pulls;             // (n_components, 2), or null: see Scorer.pulls
    const double* weights;           // (n_rows,), or null for ones: for pulls
};

// IN: the rows in the order of their owners: those of component k are order[starts[k]] and on.
struct RowsOfOwners {
    std::vector<std::int64_t> starts, order;
    const double* weights;           // null for ones
    std::int64_t n_features;
};

// OUT: the sums of the rows of each owner, in CSR form: (n_components + 1,), and so many entries.
struct SparseSums {
    const std::int64_t* indptr;
    std::int32_t* indices;
    double* values;
    double* mass;
};

}  // namespace spheremix
