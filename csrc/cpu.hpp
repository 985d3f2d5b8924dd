// Which instruction set is used: one build serves every CPU of the architecture.
#pragma once

#include <cstdlib>
#include <string>

// Whether the compiler has the extensions of GCC and Clang. Others, such as Microsoft's, get standard
// C++ and the instruction set `baseline`. -DSPHEREMIX_GNU=0 shows any compiler what those see.
#if !defined(SPHEREMIX_GNU)
#if defined(__GNUC__)
#define SPHEREMIX_GNU 1
#else
#define SPHEREMIX_GNU 0
#endif
#endif

#if defined(__x86_64__) && SPHEREMIX_GNU
#include <immintrin.h>
#define SPHEREMIX_X86 1
#else
#define SPHEREMIX_X86 0
#endif

#if defined(__aarch64__) && SPHEREMIX_GNU
#include <arm_neon.h>
#define SPHEREMIX_NEON 1
#else
#define SPHEREMIX_NEON 0
#endif

namespace spheremix {

// The best instruction set of this CPU, or a lesser one named by SPHEREMIX_SIMD (for tests).
inline const std::string& simd_level() {
    static const std::string chosen = [] {
        std::string best = "baseline";
#if SPHEREMIX_X86
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = "avx2";
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            best = "avx512";
#elif SPHEREMIX_NEON
        best = "neon";
#endif
        const char* asked = std::getenv("SPHEREMIX_SIMD");
        const std::string wish = asked ? asked : best;
        return wish == "baseline" || (wish == "avx2" && best == "avx512") ? wish : best;
    }();
    return chosen;
}

}  // namespace spheremix
