// The loops of the M-step, compiled once per instruction set, and the choice between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
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

namespace mstep {
#define SPHEREMIX_KERNELS "mstep_kernels.hpp"
#include "levels.hpp"
#undef SPHEREMIX_KERNELS
}  // namespace mstep

inline const Loops& loops() {
    static const Loops chosen = [] {
#if SPHEREMIX_X86
        if (simd_level() == "avx512") return mstep::avx512::loops();
        if (simd_level() == "avx2") return mstep::avx2::loops();
#elif SPHEREMIX_NEON
        if (simd_level() == "neon") return mstep::neon::loops();
#endif
        return mstep::baseline::loops();
    }();
    return chosen;
}

}  // namespace spheremix
