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
