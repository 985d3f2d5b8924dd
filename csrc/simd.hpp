// Vectors of the instruction set at hand. Included once per instruction set, inside its namespace;
// SPHEREMIX_LEVEL is 0 (baseline), 1 (avx2 and fma), 2 (avx512) or 3 (neon).
//
// A vector type V has: Reg, width, and load, store, set1, fma as static functions, and Reg has + - *.
// Doubles has besides what the softmax and the M-step need. Half is the vector half as wide, for
// narrow tails.

#if SPHEREMIX_LEVEL == 1 || SPHEREMIX_LEVEL == 2

struct NarrowDoubles {
    using Reg = __m256d;
    static constexpr int width = 4;
    static inline Reg load(const double* p) { return _mm256_loadu_pd(p); }
    static inline void store(double* p, Reg a) { _mm256_storeu_pd(p, a); }
    static inline Reg set1(double x) { return _mm256_set1_pd(x); }
    static inline Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_pd(a, b, c); }
};

struct NarrowFloats {
    using Reg = __m256;
    static constexpr int width = 8;
    static inline Reg load(const float* p) { return _mm256_loadu_ps(p); }
    static inline void store(float* p, Reg a) { _mm256_storeu_ps(p, a); }
    static inline Reg set1(float x) { return _mm256_set1_ps(x); }
    static inline Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
};

#endif

#if SPHEREMIX_LEVEL == 2

struct Doubles {
    using Reg = __m512d;
    static constexpr int width = 8;
    static inline Reg load(const double* p) { return _mm512_loadu_pd(p); }
    static inline Reg load(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
    static inline void store(double* p, Reg a) { _mm512_storeu_pd(p, a); }
    static inline void store(float* p, Reg a) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(a)); }
    static inline Reg set1(double x) { return _mm512_set1_pd(x); }
    static inline Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_pd(a, b, c); }
    static inline Reg max(Reg a, Reg b) { return _mm512_max_pd(a, b); }
    static inline double sum(Reg a) { return _mm512_reduce_add_pd(a); }
    static inline double max(Reg a) { return _mm512_reduce_max_pd(a); }
    static inline __mmask8 first(int n) { return static_cast<__mmask8>((1u << n) - 1u); }
    // The first n < width elements; the others are fill.
    static inline Reg load_first(const double* p, int n, double fill) {
        return _mm512_mask_loadu_pd(_mm512_set1_pd(fill), first(n), p);
    }
    static inline void store_first(double* p, Reg a, int n) {
        _mm512_mask_storeu_pd(p, first(n), a);
    }
    // Bit i is set when a[i] >= b[i].
    static inline unsigned not_below(Reg a, Reg b) {
        return _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ);
    }
    static inline unsigned nonzero(Reg a) {
        return _mm512_cmp_pd_mask(a, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    }
    static inline Reg round(Reg a) {
        return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static inline Reg scale(Reg a, Reg exponent) { return _mm512_scalef_pd(a, exponent); }
    // Columns for rows.
    static inline void transpose(Reg* r) {
        Reg pairs[8], quads[8];
        for (int i = 0; i < 8; i += 2) {
            pairs[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
            pairs[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
        }
        for (int i = 0; i < 8; i += 4)
            for (int j = 0; j < 2; ++j) {
                quads[i + j] = _mm512_shuffle_f64x2(pairs[i + j], pairs[i + j + 2], 0x88);
                quads[i + j + 2] = _mm512_shuffle_f64x2(pairs[i + j], pairs[i + j + 2], 0xdd);
            }
        for (int j = 0; j < 4; ++j) {
            r[j] = _mm512_shuffle_f64x2(quads[j], quads[j + 4], 0x88);
            r[j + 4] = _mm512_shuffle_f64x2(quads[j], quads[j + 4], 0xdd);
        }
    }
    // a where x >= bound, else 0.
    static inline Reg zero_below(Reg a, Reg x, double bound) {
        return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, set1(bound), _CMP_GE_OQ), a);
    }
    static inline Reg magnitude(Reg a) { return _mm512_abs_pd(a); }
    // a where x > y, else 0.
    static inline Reg where_above(Reg x, Reg y, Reg a) {
        return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, y, _CMP_GT_OQ), a);
    }
    static inline Reg where_equal(Reg x, Reg y, Reg a) {
        return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ), a);
    }
    // a >= 0 with the sign of b; plain zero where a is zero.
    static inline Reg with_sign(Reg a, Reg b) {
        return _mm512_mask_or_pd(a, static_cast<__mmask8>(nonzero(a)), a,
                                 _mm512_and_pd(b, set1(-0.0)));
    }
};

struct Floats {
    using Reg = __m512;
    static constexpr int width = 16;
    static inline Reg load(const float* p) { return _mm512_loadu_ps(p); }
    static inline void store(float* p, Reg a) { _mm512_storeu_ps(p, a); }
    static inline Reg set1(float x) { return _mm512_set1_ps(x); }
    static inline Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
};

using HalfDoubles = NarrowDoubles;
using HalfFloats = NarrowFloats;

#elif SPHEREMIX_LEVEL == 1

struct Doubles : NarrowDoubles {
    using NarrowDoubles::load;
    using NarrowDoubles::store;
    static inline void store(float* p, Reg a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a)); }
    static inline void transpose(Reg* r) {
        const Reg a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
        const Reg c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
        r[0] = _mm256_permute2f128_pd(a, c, 0x20);
        r[1] = _mm256_permute2f128_pd(b, d, 0x20);
        r[2] = _mm256_permute2f128_pd(a, c, 0x31);
        r[3] = _mm256_permute2f128_pd(b, d, 0x31);
    }
    static inline Reg load(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
    static inline Reg max(Reg a, Reg b) { return _mm256_max_pd(a, b); }
    static inline double sum(Reg a) {
        const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
        return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
    }
    static inline double max(Reg a) {
        const __m128d pair = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
        return _mm_cvtsd_f64(_mm_max_sd(pair, _mm_unpackhi_pd(pair, pair)));
    }
    static inline __m256i first(int n) {
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
    }
    static inline Reg load_first(const double* p, int n, double fill) {
        const __m256i mask = first(n);
        return _mm256_blendv_pd(set1(fill), _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask));
    }
    static inline void store_first(double* p, Reg a, int n) { _mm256_maskstore_pd(p, first(n), a); }
    static inline unsigned not_below(Reg a, Reg b) {
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GE_OQ)));
    }
    static inline unsigned nonzero(Reg a) {
        return static_cast<unsigned>(
            _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_setzero_pd(), _CMP_NEQ_UQ)));
    }
    static inline Reg round(Reg a) {
        return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static inline Reg scale(Reg a, Reg exponent) {
        const __m256i n = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(exponent));
        const __m256i bits = _mm256_slli_epi64(_mm256_add_epi64(n, _mm256_set1_epi64x(1023)), 52);
        return _mm256_mul_pd(a, _mm256_castsi256_pd(bits));
    }
    static inline Reg zero_below(Reg a, Reg x, double bound) {
        return _mm256_and_pd(a, _mm256_cmp_pd(x, set1(bound), _CMP_GE_OQ));
    }
    static inline Reg magnitude(Reg a) { return _mm256_andnot_pd(set1(-0.0), a); }
    static inline Reg where_above(Reg x, Reg y, Reg a) {
        return _mm256_and_pd(a, _mm256_cmp_pd(x, y, _CMP_GT_OQ));
    }
    static inline Reg where_equal(Reg x, Reg y, Reg a) {
        return _mm256_and_pd(a, _mm256_cmp_pd(x, y, _CMP_EQ_OQ));
    }
    static inline Reg with_sign(Reg a, Reg b) {
        const Reg there = _mm256_cmp_pd(a, _mm256_setzero_pd(), _CMP_NEQ_UQ);
        return _mm256_or_pd(a, _mm256_and_pd(_mm256_and_pd(b, set1(-0.0)), there));
    }
};

using Floats = NarrowFloats;
using HalfDoubles = NarrowDoubles;
using HalfFloats = NarrowFloats;

#elif SPHEREMIX_LEVEL == 3

// The vectors of simd.hpp for ARM's 64-bit CPUs, all of which have them. Included inside the
// namespace of the instruction set.

struct Doubles {
    using Reg = float64x2_t;
    static constexpr int width = 2;
    static inline Reg load(const double* p) { return vld1q_f64(p); }
    static inline Reg load(const float* p) { return vcvt_f64_f32(vld1_f32(p)); }
    static inline void store(double* p, Reg a) { vst1q_f64(p, a); }
    static inline void store(float* p, Reg a) { vst1_f32(p, vcvt_f32_f64(a)); }
    static inline Reg set1(double x) { return vdupq_n_f64(x); }
    static inline Reg fma(Reg a, Reg b, Reg c) { return vfmaq_f64(c, a, b); }
    static inline Reg max(Reg a, Reg b) { return vmaxq_f64(a, b); }
    static inline double sum(Reg a) { return vaddvq_f64(a); }
    static inline double max(Reg a) { return vmaxvq_f64(a); }
    static inline Reg load_first(const double* p, int, double fill) {
        return vsetq_lane_f64(p[0], set1(fill), 0);
    }
    static inline void store_first(double* p, Reg a, int) { vst1q_lane_f64(p, a, 0); }
    static inline unsigned bits(uint64x2_t mask) {
        return static_cast<unsigned>(vgetq_lane_u64(mask, 0) & 1u) |
               static_cast<unsigned>(vgetq_lane_u64(mask, 1) & 2u);
    }
    static inline unsigned not_below(Reg a, Reg b) { return bits(vcgeq_f64(a, b)); }
    static inline unsigned nonzero(Reg a) { return 3u & ~bits(vceqzq_f64(a)); }
    static inline Reg round(Reg a) { return vrndnq_f64(a); }
    static inline Reg scale(Reg a, Reg exponent) {
        const int64x2_t n = vaddq_s64(vcvtq_s64_f64(exponent), vdupq_n_s64(1023));
        return vmulq_f64(a, vreinterpretq_f64_s64(vshlq_n_s64(n, 52)));
    }
    static inline void transpose(Reg* r) {
        const Reg first = r[0];
        r[0] = vzip1q_f64(first, r[1]);
        r[1] = vzip2q_f64(first, r[1]);
    }
    static inline Reg zero_below(Reg a, Reg x, double bound) {
        return vreinterpretq_f64_u64(
            vandq_u64(vreinterpretq_u64_f64(a), vcgeq_f64(x, set1(bound))));
    }
    static inline Reg magnitude(Reg a) { return vabsq_f64(a); }
    static inline Reg where_above(Reg x, Reg y, Reg a) {
        return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), vcgtq_f64(x, y)));
    }
    static inline Reg where_equal(Reg x, Reg y, Reg a) {
        return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), vceqq_f64(x, y)));
    }
    static inline Reg with_sign(Reg a, Reg b) {
        const uint64x2_t sign = vandq_u64(vreinterpretq_u64_f64(b), vdupq_n_u64(1ull << 63));
        return vreinterpretq_f64_u64(
            vorrq_u64(vreinterpretq_u64_f64(a), vbicq_u64(sign, vceqzq_f64(a))));
    }
};

struct Floats {
    using Reg = float32x4_t;
    static constexpr int width = 4;
    static inline Reg load(const float* p) { return vld1q_f32(p); }
    static inline void store(float* p, Reg a) { vst1q_f32(p, a); }
    static inline Reg set1(float x) { return vdupq_n_f32(x); }
    static inline Reg fma(Reg a, Reg b, Reg c) { return vfmaq_f32(c, a, b); }
};

using HalfDoubles = Doubles;
using HalfFloats = Floats;

#else

#if SPHEREMIX_GNU
typedef double double_register __attribute__((vector_size(16)));
typedef float float_register __attribute__((vector_size(16)));
#else
template <class S, int N>
struct plain_register {
    S v[N];
    S& operator[](int i) { return v[i]; }
    S operator[](int i) const { return v[i]; }
    friend plain_register operator+(plain_register a, const plain_register& b) {
        for (int i = 0; i < N; ++i) a.v[i] += b.v[i];
        return a;
    }
    friend plain_register operator-(plain_register a, const plain_register& b) {
        for (int i = 0; i < N; ++i) a.v[i] -= b.v[i];
        return a;
    }
    friend plain_register operator*(plain_register a, const plain_register& b) {
        for (int i = 0; i < N; ++i) a.v[i] *= b.v[i];
        return a;
    }
};
using double_register = plain_register<double, 2>;
using float_register = plain_register<float, 4>;
#endif

struct Floats {
    using Reg = float_register;
    static constexpr int width = 4;
    static inline Reg load(const float* p) {
        Reg a;
        std::memcpy(&a, p, sizeof a);
        return a;
    }
    static inline void store(float* p, Reg a) { std::memcpy(p, &a, sizeof a); }
    static inline Reg set1(float x) { return Reg{x, x, x, x}; }
    static inline Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
};

struct Doubles {
    using Reg = double_register;
    static constexpr int width = 2;
    static inline Reg load(const double* p) {
        Reg a;
        std::memcpy(&a, p, sizeof a);
        return a;
    }
    static inline Reg load(const float* p) { return Reg{p[0], p[1]}; }
    static inline void store(double* p, Reg a) { std::memcpy(p, &a, sizeof a); }
    static inline void store(float* p, Reg a) {
        p[0] = static_cast<float>(a[0]);
        p[1] = static_cast<float>(a[1]);
    }
    static inline void transpose(Reg* r) {
        const Reg first = r[0];
        r[0] = Reg{first[0], r[1][0]};
        r[1] = Reg{first[1], r[1][1]};
    }
    static inline Reg set1(double x) { return Reg{x, x}; }
    static inline Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
    static inline double sum(Reg a) { return a[0] + a[1]; }
    static inline double max(Reg a) { return a[0] > a[1] ? a[0] : a[1]; }
    static inline Reg load_first(const double* p, int, double fill) { return Reg{p[0], fill}; }
    static inline void store_first(double* p, Reg a, int) { p[0] = a[0]; }
    static inline unsigned not_below(Reg a, Reg b) {
        return static_cast<unsigned>(a[0] >= b[0]) | static_cast<unsigned>(a[1] >= b[1]) << 1;
    }
    static inline Reg zero_below(Reg a, Reg x, double bound) {
        return Reg{x[0] >= bound ? a[0] : 0.0, x[1] >= bound ? a[1] : 0.0};
    }
    static inline unsigned nonzero(Reg a) {
        return static_cast<unsigned>(a[0] != 0.0) | static_cast<unsigned>(a[1] != 0.0) << 1;
    }
#if SPHEREMIX_GNU
    typedef long long Bits __attribute__((vector_size(16)));
    static inline Reg max(Reg a, Reg b) { return a > b ? a : b; }
    static inline Reg magnitude(Reg a) { return (Reg)((Bits)a & 0x7fffffffffffffffLL); }
    static inline Reg where_above(Reg x, Reg y, Reg a) { return (Reg)((x > y) & (Bits)a); }
    static inline Reg where_equal(Reg x, Reg y, Reg a) { return (Reg)((x == y) & (Bits)a); }
    static inline Reg with_sign(Reg a, Reg b) {
        const Bits there = (Bits)(a != Reg{});
        return (Reg)((Bits)a | ((Bits)b & there & (-0x7fffffffffffffffLL - 1)));
    }
#else
    static inline Reg max(Reg a, Reg b) {
        return Reg{a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
    }
    static inline Reg magnitude(Reg a) { return Reg{std::abs(a[0]), std::abs(a[1])}; }
    static inline Reg where_above(Reg x, Reg y, Reg a) {
        return Reg{x[0] > y[0] ? a[0] : 0.0, x[1] > y[1] ? a[1] : 0.0};
    }
    static inline Reg where_equal(Reg x, Reg y, Reg a) {
        return Reg{x[0] == y[0] ? a[0] : 0.0, x[1] == y[1] ? a[1] : 0.0};
    }
    static inline Reg with_sign(Reg a, Reg b) {
        return Reg{a[0] == 0.0 ? 0.0 : std::copysign(a[0], b[0]),
                   a[1] == 0.0 ? 0.0 : std::copysign(a[1], b[1])};
    }
#endif
};

using HalfDoubles = Doubles;
using HalfFloats = Floats;

#endif

template <class T>
struct Vectors;
template <>
struct Vectors<double> {
    using Full = Doubles;
    using Half = HalfDoubles;
};
template <>
struct Vectors<float> {
    using Full = Floats;
    using Half = HalfFloats;
};

// One product and one sum, rounded as the vectors above do.
static inline double fused(double a, double b, double c) {
#if SPHEREMIX_LEVEL >= 1
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline float fused(float a, float b, float c) {
#if SPHEREMIX_LEVEL >= 1
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

// exp of x <= 0, to an ulp or two; exactly 0 where exp is below the normal numbers.
static inline Doubles::Reg exp_negative(Doubles::Reg x) {
#if SPHEREMIX_LEVEL >= 1
    using V = Doubles;
    const V::Reg clipped = V::max(x, V::set1(-708.0));
    const V::Reg n = V::round(clipped * V::set1(1.4426950408889634));
    V::Reg r = V::fma(n, V::set1(-6.93147180369123816490e-01), clipped);
    r = V::fma(n, V::set1(-1.90821492927058770002e-10), r);
    // Taylor's series: |r| <= log(2) / 2, so 13 terms leave 4e-18.
    const V::Reg r2 = r * r;
    const V::Reg r4 = r2 * r2;
    const V::Reg p01 = V::fma(r, V::set1(1.0), V::set1(1.0));
    const V::Reg p23 = V::fma(r, V::set1(1.0 / 6), V::set1(1.0 / 2));
    const V::Reg p45 = V::fma(r, V::set1(1.0 / 120), V::set1(1.0 / 24));
    const V::Reg p67 = V::fma(r, V::set1(1.0 / 5040), V::set1(1.0 / 720));
    const V::Reg p89 = V::fma(r, V::set1(1.0 / 362880), V::set1(1.0 / 40320));
    const V::Reg pab = V::fma(r, V::set1(1.0 / 39916800), V::set1(1.0 / 3628800));
    const V::Reg pcd = V::fma(r, V::set1(1.0 / 6227020800.0), V::set1(1.0 / 479001600));
    const V::Reg q0 = V::fma(r2, p23, p01);
    const V::Reg q1 = V::fma(r2, p67, p45);
    const V::Reg q2 = V::fma(r2, pab, p89);
    const V::Reg high = V::fma(r4, V::fma(r4, pcd, q2), q1);
    return V::zero_below(V::scale(V::fma(r4, high, q0), n), x, -708.0);
#else
    Doubles::Reg e = x;
    for (int i = 0; i < Doubles::width; ++i) e[i] = x[i] < -708.0 ? 0.0 : std::exp(x[i]);
    return e;
#endif
}
