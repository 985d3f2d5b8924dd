// What a sweep is asked, in plain structures: the same for every instruction set.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace spheremix {

enum Assignment : std::int32_t { soft = 0, hard = 1, drawn = 2, variation = 3 };
enum Want : std::int32_t { labels = 0, posteriors = 1, scores = 2, log_density = 3 };

// IN: the stacked components of all scorers of a sweep. Scorer g owns components
// begin[g] .. begin[g + 1] - 1.
struct Scorers {
    const double* matrix;        // (n_components, n_features), C order
    const double* biases;        // (n_components,)
    std::int64_t n_components;
    std::int64_t n_features;
    std::int64_t n_groups;
    const std::int64_t* begin;         // (n_groups + 1,)
    const std::int32_t* assignments;   // (n_groups,)
    const std::uint64_t* keys;         // (n_groups, 2): seed and sweep
    const double* offsets;             // (n_groups,)
    const double* pulls;               // (n_components, 2): for assignment by variation
    const double* weights;             // (n_groups, n) or (n,) or null for ones
    std::int64_t weight_stride;        // between scorers: 0 for shared weights
    double negligible;                 // posteriors below it add nothing to mass and vectors
    // OUT, where not null, at g * n + row: by how much the largest score leads the next one
    // (infinity where there is none, or no weight), and whose it is.
    double* margins;
    // INOUT: before, the component whose sums hold the row already, or -1. A row that still belongs
    // to it, by a margin that is clear, adds nothing.
    std::int32_t* owners;
    std::int64_t margin_stride;
    double clear;
    // INOUT, where not null: (rows of the sweep, n_components), the scores that rows have from other
    // columns, which are no part of these rows. A row's own are added, and the sums left here; or,
    // where they are complete already, taken as they are.
    double* given;
    bool complete;

    // Leave the margin and the owner of a row; tell whether it is held where it belongs.
    bool lead(std::int64_t group, std::int64_t row, double margin, std::int64_t owner) const {
        std::int32_t& place = owners[group * margin_stride + row];
        const bool held = place == static_cast<std::int32_t>(owner) && margin >= clear;
        margins[group * margin_stride + row] = margin;
        place = static_cast<std::int32_t>(owner);
        return held;
    }
    double weight(std::int64_t group, std::int64_t row) const {
        return weights ? weights[group * weight_stride + row] : 1.0;
    }
    bool any_weight(std::int64_t row) const {
        if (!weights) return true;
        if (weight_stride == 0) return weights[row] != 0.0;
        for (std::int64_t g = 0; g < n_groups; ++g)
            if (weights[g * weight_stride + row] != 0.0) return true;
        return false;
    }
};

// INOUT: the sums, continued in row order.
struct Sums {
    double* vectors;  // (n_components, n_features)
    double* mass;     // (n_components,)
    double* totals;   // (n_groups, 2): log-likelihood, entropy
};

// IN: rows of a CSR matrix; row i is scale[i] times what is stored. A sweep reads n of them: all, or
// those of a list. The i-th of these is row(i).
template <class T, class I>
struct SparseRows {
    const I* indptr;       // (n + 1,), or more where there is a list
    const I* indices;      // (stored,)
    const T* data;         // (stored,)
    const double* scale;
    std::int64_t n;
    std::int64_t first;    // number of the first row among all rows: drawn assignments depend on it
    std::int64_t stored;
    const std::int64_t* list;  // (n,) or null

    std::int64_t row(std::int64_t i) const { return list ? list[i] : i; }
    std::int64_t begin(std::int64_t i) const { return indptr[row(i)]; }
    std::int64_t end(std::int64_t i) const { return indptr[row(i) + 1]; }
    std::int64_t count() const {
        if (!list) return indptr[n] - indptr[0];
        std::int64_t total = 0;
        for (std::int64_t i = 0; i < n; ++i) total += end(i) - begin(i);
        return total;
    }
};

// IN: rows of a dense matrix of any strides, counted in elements; all n, or the n of a list.
template <class T>
struct DenseRows {
    const T* data;
    std::int64_t row_stride;
    std::int64_t column_stride;
    const double* scale;
    std::int64_t n;
    std::int64_t first;
    const std::int64_t* list;

    std::int64_t row(std::int64_t i) const { return list ? list[i] : i; }
};

// IN, for each row of a list: its component, and what it is multiplied with.
struct Listed {
    const std::int32_t* owners;
    const double* factors;
};

// OUT: one row's worth of what map_rows was asked.
struct RowMap {
    Want want;
    double* values;         // (n, K) or (n,)
    std::int64_t* labels;   // (n,)
};

// --------------------------------------------------------------------- the components that may win

// See data/near.py for the bounds.

// Groups have a multiple of this many places, so that they begin on a whole vector of any kind.
constexpr std::int64_t near_multiple = 16;

// Stands for a score that is above, or with a minus sign below, all others. It is finite, so that
// sums with it are numbers.
constexpr double near_beyond = 1e30;

// The components have places: n_groups groups of group_size places, and after them the places of
// the components that have moved far, which have their place in a group too.
struct Near {
    // IN
    const double* matrix;              // (n_places, n_features): the vector of each place
    const double* biases;              // (n_places,)
    const std::int32_t* members;       // (n_places,): the component of a place, -1 for none
    std::int64_t n_places, n_features, n_groups, group_size;
    std::int64_t n_components;
    const std::int32_t* place;         // (n_components,): in the groups
    const unsigned char* moved;        // (n_components,): whether anything of it has changed
    const double* lost;                // (n_components,): of a score, since the last sweep, at most
    const double* grown;               // (n_groups,): of the bounds, since they were stored
    const double* beyond;              // (n_places - n_groups * group_size,): growth not in grown
    double eagerness;                  // 1 or more: how early these are scored, in their beyond
    const double* weights;             // (n,) or null for ones
    double rounding;                   // error of a score, at most: now,
    double rounding_before;            // and in the sweep before
    // INOUT
    float* bounds;                     // (n_groups, n): scores of others than the owner, at most
    double* scores;                    // (n,): of the owner; at least, where it is not known
    unsigned char* known;              // (n,): whether the owner's score is known
    std::int32_t* owners;              // (n,)

    std::int64_t first_far() const { return n_groups * group_size; }
    std::int64_t group_of(std::int32_t component) const { return place[component] / group_size; }
};

// ------------------------------------------------------------------------------- sparse components

// Swept hard or by first variation: see data/moved.py.

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

// ------------------------------------------------------------------------- draws, stops and memory

// The uniform number of a row: a function of (seed, sweep, row) alone. SplitMix64's finaliser.
inline std::uint64_t mix(std::uint64_t state) {
    state += 0x9E3779B97F4A7C15ull;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
    return state ^ (state >> 31);
}

inline double uniform(const std::uint64_t* key, std::uint64_t row) {
    return static_cast<double>(mix(mix(mix(key[0]) ^ key[1]) ^ row) >> 11) * 0x1p-53;
}

// Lets the calling thread notice Ctrl-C now and then, and everybody stop, then or at a bad index.
class Pulse {
public:
    using Check = bool (*)();  // true: stop; called on the calling thread only
    explicit Pulse(Check check) : check_(check), last_(Clock::now()) {}

    // Called between tasks or blocks; thread 0 is the caller.
    bool stop(int thread) {
        if (thread == 0 && !stopped_.load(std::memory_order_relaxed)) {
            const auto now = Clock::now();
            if (now - last_ > std::chrono::milliseconds(50)) {
                last_ = now;
                if (check_()) stopped_.store(true, std::memory_order_relaxed);
            }
        }
        return stopped_.load(std::memory_order_relaxed);
    }
    bool stopped() const { return stopped_.load(); }

    // Everybody stops: rows hold an index that is outside the columns.
    void invalidate() {
        invalid_.store(true);
        stopped_.store(true);
    }
    bool invalid() const { return invalid_.load(); }

private:
    using Clock = std::chrono::steady_clock;
    Check check_;
    Clock::time_point last_;
    std::atomic<bool> stopped_{false};
    std::atomic<bool> invalid_{false};
};

// Uninitialised memory on cache-line boundaries; only pages that are written cost anything.
template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::int64_t size) { resize(size); }
    void resize(std::int64_t size) {
        if (size <= size_) return;
        constexpr auto most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
        if (static_cast<std::size_t>(size) > most) throw std::bad_alloc();
        const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
        data_.reset();
        data_.get_deleter().alignment = bytes < large ? 64 : large;
        data_.reset(static_cast<T*>(
            ::operator new(bytes, std::align_val_t{data_.get_deleter().alignment})));
        size_ = size;
#if defined(__linux__)
        // Panels are read at random: large pages spare most misses of address translation.
        if (bytes >= large) madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
    }
    T* get() const { return data_.get(); }
    T& operator[](std::int64_t i) const { return data_.get()[i]; }

private:
    static constexpr std::size_t large = std::size_t{1} << 21;
    struct Release {
        std::size_t alignment = 64;
        void operator()(T* p) const { ::operator delete(p, std::align_val_t{alignment}); }
    };
    std::unique_ptr<T, Release> data_;
    std::int64_t size_ = 0;
};

}  // namespace spheremix
