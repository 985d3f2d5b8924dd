// What a sweep over the components that may win is asked, in plain structures: the same for every
// instruction set. See data/near.py for the bounds.
#pragma once

#include <cstdint>

namespace spheremix {

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

}  // namespace spheremix
