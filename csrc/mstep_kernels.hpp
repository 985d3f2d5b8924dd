// Loops of the M-step over the features of one component. Included once per instruction set, inside
// its namespace. Vectors are eight doubles wide whatever the registers, so that sums are
// taken in the same order on every CPU, and no product is fused with a sum; tails are padded with
// zeros, which are never in play.

#include "simd.hpp"

constexpr int wide = 8, n_registers = wide / Doubles::width;

struct Vec {
    Doubles::Reg v[n_registers];
    double operator[](int l) const { return v[l / Doubles::width][l % Doubles::width]; }
};
template <class F>
inline Vec each(const F& f) {
    Vec out;
    for (int i = 0; i < n_registers; ++i) out.v[i] = f(i);
    return out;
}
inline Vec load(const double* p) {
    return each([&](int i) { return Doubles::load(p + i * Doubles::width); });
}
inline void store(double* p, const Vec& a) {
    for (int i = 0; i < n_registers; ++i) Doubles::store(p + i * Doubles::width, a.v[i]);
}
inline Vec fill(double x) {
    return each([&](int) { return Doubles::set1(x); });
}
inline Vec operator+(const Vec& a, const Vec& b) {
    return each([&](int i) { return a.v[i] + b.v[i]; });
}
inline Vec operator-(const Vec& a, const Vec& b) {
    return each([&](int i) { return a.v[i] - b.v[i]; });
}
inline Vec operator*(const Vec& a, const Vec& b) {
    return each([&](int i) { return a.v[i] * b.v[i]; });
}
inline Vec magnitude(const Vec& a) {
    return each([&](int i) { return Doubles::magnitude(a.v[i]); });
}
inline Vec larger(const Vec& a, const Vec& b) {
    return each([&](int i) { return Doubles::max(a.v[i], b.v[i]); });
}
inline Vec where(const Vec& test, const Vec& bound, const Vec& a) {
    return each([&](int i) { return Doubles::where_above(test.v[i], bound.v[i], a.v[i]); });
}
inline Vec where_equal(const Vec& test, const Vec& bound, const Vec& a) {
    return each([&](int i) { return Doubles::where_equal(test.v[i], bound.v[i], a.v[i]); });
}
inline Vec with_sign(const Vec& a, const Vec& b) {
    return each([&](int i) { return Doubles::with_sign(a.v[i], b.v[i]); });
}
// Whether any of eight numbers, none of them negative, is above zero.
inline bool any(const Vec& a) {
    Doubles::Reg sum = a.v[0];
    for (int i = 1; i < n_registers; ++i) sum = sum + a.v[i];
    return Doubles::nonzero(sum) != 0;
}

inline Vec& operator+=(Vec& a, const Vec& b) { return a = a + b; }

inline double sum(const Vec& v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

inline Vec load_first(const double* p, std::int64_t n) {
    double padded[wide] = {};
    std::copy(p, p + n, padded);
    return load(padded);
}

// Eight features from j on; zeros beyond the last one.
inline Vec at(const double* p, std::int64_t j, std::int64_t n) {
    return j + wide <= n ? load(p + j) : load_first(p + j, n - j);
}

// IN r (d,), old (d,), weights (d,) or null; cheapest: the least weight. OUT: sum of r^2, the longest
// |r_j| among the cheapest features, <old, r>, and the weighted l1 norm of old.
inline void measure(const double* r, const double* old, const double* weights, double cheapest,
                    std::int64_t d, Measure& out) {
    Vec squares = fill(0.0), longest = squares, dots = squares, norms = squares;
    for (std::int64_t j = 0; j < d; j += wide) {
        const Vec value = at(r, j, d), before = at(old, j, d), length = magnitude(value);
        squares += length * length;
        dots += before * value;
        if (weights) {
            const Vec weight = at(weights, j, d);
            longest = larger(where_equal(weight, fill(cheapest), length), longest);
            norms += magnitude(before) * weight;
        } else {
            longest = larger(length, longest);
            norms += magnitude(before);
        }
    }
    out.squares = sum(squares);
    out.longest = 0.0;
    for (int l = 0; l < wide; ++l) out.longest = std::max<double>(out.longest, longest[l]);
    out.old_dot = sum(dots);
    out.old_norm = sum(norms);
}

// Split the features by the interval [low, high] in which kappa lies. Those well in play at low (at
// twice the threshold, so that the closed form does not cancel) enter by three sums; those not in
// play at high never are; the rest is listed. OUT part.
inline void split(const double* r, double beta, const double* weights, double low, double high,
                  std::int64_t d, Part& part) {
    Vec rr = fill(0.0), rt = rr, tt = rr;
    part.beta = beta;
    part.lengths.reset(new double[d]);
    part.thresholds.reset(weights ? new double[d] : nullptr);
    std::int64_t n = 0;
    double* lengths = part.lengths.get();
    double* thresholds = part.thresholds.get();
    for (std::int64_t j = 0; j < d; j += wide) {
        const Vec length = magnitude(at(r, j, d));
        const Vec t = weights ? fill(beta) * at(weights, j, d) : fill(beta);
        const Vec in = where(fill(low) * length, t + t, length);
        const Vec bound = where(fill(low) * length, t + t, t);
        rr += in * in;
        rt += in * bound;
        tt += bound * bound;
        if (!any(where(fill(high) * length, t, length) - in)) continue;
        for (std::int64_t i = j; i < std::min(j + wide, d); ++i) {
            const double own = std::abs(r[i]), least = weights ? beta * weights[i] : beta;
            lengths[n] = own;
            if (weights) thresholds[n] = least;
            n += (high * own > least) & !(low * own > least + least);
        }
    }
    part.n = n;
    part.rr = sum(rr);
    part.rt = sum(rt);
    part.tt = sum(tt);
}

// Sums over the features in play at kappa: OUT excess^2, excess |r|, r^2.
inline void evaluate(const Part& part, double kappa, double& ee, double& er, double& rr) {
    Vec squares = fill(0.0), products = squares, lengths = squares;
    const bool own = part.thresholds != nullptr;
    for (std::int64_t j = 0; j < part.n; j += wide) {
        const Vec length = at(part.lengths.get(), j, part.n);
        const Vec t = own ? at(part.thresholds.get(), j, part.n) : fill(part.beta);
        const Vec margin = fill(kappa) * length - t;
        const Vec excess = larger(margin, fill(0.0));
        squares += excess * excess;
        products += excess * length;
        lengths += where(margin, fill(0.0), length * length);
    }
    ee = (kappa * part.rr - 2.0 * part.rt) * kappa + part.tt + sum(squares);
    er = kappa * part.rr - part.rt + sum(products);
    rr = part.rr + sum(lengths);
}

// The soft threshold divided by its norm. OUT prototype (d,), <mu, r>, weighted l1 norm of mu.
inline void direction(const double* r, double kappa, double beta, const double* weights,
                      double norm, std::int64_t d, double* prototype, double& dot, double& l1) {
    const Vec inverse = fill(1.0 / norm);
    Vec dots = fill(0.0), norms = dots;
    for (std::int64_t j = 0; j < d; j += wide) {
        const Vec value = at(r, j, d);
        const Vec weight = weights ? at(weights, j, d) : fill(1.0);
        const Vec margin = fill(kappa) * magnitude(value) - fill(beta) * weight;
        const Vec length = larger(margin, fill(0.0)) * inverse;
        const Vec mu = with_sign(length, value);
        dots += mu * value;
        norms += length * weight;
        if (j + wide <= d) {
            store(prototype + j, mu);
        } else {
            for (std::int64_t l = 0; j + l < d; ++l) prototype[j + l] = mu[l];
        }
    }
    dot = sum(dots);
    l1 = sum(norms);
}

inline Loops loops() { return Loops{measure, split, evaluate, direction}; }
