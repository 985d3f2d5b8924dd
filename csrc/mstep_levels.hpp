// The loops of the M-step, compiled once per instruction set, and the choice between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "cpu.hpp"

namespace spheremix {

struct Measure {
    double squares, longest, old_dot, old_norm;
};

// One component's features, split by an interval of kappa: see split().
struct Part {
    std::unique_ptr<double[]> lengths;     // |r_j| of the undecided features, n of them
    std::unique_ptr<double[]> thresholds;  // theirs; null where beta serves all
    std::int64_t n = 0;
    double beta = 0.0;
    double rr = 0.0, rt = 0.0, tt = 0.0;  // over the features always in play
};

struct Loops {
    void (*measure)(const double*, const double*, const double*, double, std::int64_t, Measure&);
    void (*split)(const double*, double, const double*, double, double, std::int64_t, Part&);
    void (*evaluate)(const Part&, double, double&, double&, double&);
    void (*direction)(const double*, double, double, const double*, double, std::int64_t, double*,
                      double&, double&);
};

namespace mstep_baseline {
#define SPHEREMIX_MSTEP_WIDTH 2  // doubles in a register
#include "mstep_kernels.hpp"
#undef SPHEREMIX_MSTEP_WIDTH
}

#if SPHEREMIX_X86

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace mstep_avx2 {
#define SPHEREMIX_MSTEP_WIDTH 4
#include "mstep_kernels.hpp"
#undef SPHEREMIX_MSTEP_WIDTH
}
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
namespace mstep_avx512 {
#define SPHEREMIX_MSTEP_WIDTH 8
#include "mstep_kernels.hpp"
#undef SPHEREMIX_MSTEP_WIDTH
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

inline const Loops& loops() {
    static const Loops chosen = [] {
#if SPHEREMIX_X86
        if (simd_level() == "avx512")
            return Loops{mstep_avx512::measure, mstep_avx512::split, mstep_avx512::evaluate,
                         mstep_avx512::direction};
        if (simd_level() == "avx2")
            return Loops{mstep_avx2::measure, mstep_avx2::split, mstep_avx2::evaluate,
                         mstep_avx2::direction};
#endif
        return Loops{mstep_baseline::measure, mstep_baseline::split, mstep_baseline::evaluate,
                     mstep_baseline::direction};
    }();
    return chosen;
}

}  // namespace spheremix
