// Bessel quantities of the von Mises-Fisher density for one (d, kappa): the formulas of
// spheremix/bessel.py, which explains them.
//
// With nu = d/2 - 1 and s = hypot(nu, kappa): the power series of I_nu where s < 32, elsewhere the
// uniform expansion of log I_nu in 1/s. No special function is asked of the C++ library.
#pragma once

#include <cmath>
#include <limits>

namespace spheremix {
namespace bessel {

constexpr double kBorder = 32.0;  // of s
constexpr int kMaxTerms = 15;     // orders of the uniform expansion that count at the border
constexpr double kLog2 = 0.69314718055994530942;
constexpr double kLog2Pi = 1.83787706640934548356;

// Coefficients of the uniform expansion: of A_d, and of log I_nu. Dyadic fractions; the first
// orders, which carry the digits, are exact in double precision.
struct Debye {
    double mean[kMaxTerms + 1][kMaxTerms + 1] = {};
    double log[kMaxTerms + 1][kMaxTerms + 1] = {};

    Debye() {
        mean[0][0] = 0.5;
        for (int k = 1; k <= kMaxTerms; ++k) {
            const double* last = mean[k - 1];
            double square[kMaxTerms] = {};
            for (int i = 0; i < k; ++i)
                for (int a = 0; a <= i; ++a)
                    for (int b = 0; b < k - i; ++b)
                        square[a + b] += mean[i][a] * mean[k - 1 - i][b];
            for (int j = 0; j < k; ++j) {
                mean[k][j] += 0.5 * ((k - 1 + 2 * j) * last[j] + square[j]);
                mean[k][j + 1] -= 0.5 * ((k + 1 + 2 * j) * last[j] + square[j]);
            }
            for (int j = 0; j <= k; ++j) log[k][j] = mean[k][j] / (k + 2 * j);
        }
    }
};

inline const Debye& debye() {
    static const Debye table;
    return table;
}

// Orders that count from a given s on.
inline int n_terms(double s) {
    if (s < 60.0) return kMaxTerms;
    if (s < 100.0) return 11;
    if (s < 300.0) return 9;
    if (s < 1000.0) return 6;
    if (s < 10000.0) return 5;
    return 3;
}

// Sum over k >= 1 of p^k times the polynomial of row k at u.
inline double debye_sum(const double (*rows)[kMaxTerms + 1], double nu, double s) {
    const double p = 1.0 / s;
    const double u = (nu * p) * (nu * p);
    double total = 0.0;
    for (int k = n_terms(s); k >= 1; --k) {
        double row = rows[k][k];
        for (int j = k - 1; j >= 0; --j) row = row * u + rows[k][j];
        total = (total + row) * p;
    }
    return total;
}

// I_nu(x) Gamma(nu + 1) (x/2)^-nu, by its power series: all terms are positive.
inline double power_series(double nu, double x) {
    const double y = 0.25 * x * x;
    double terms[128];
    int n = 0;
    double total = 1.0;
    for (double term = 1.0; n < 128 && term > 1e-18 * total; total += term) {
        term *= y / ((n + 1.0) * (nu + n + 1.0));
        terms[n++] = term;
    }
    double sum = 0.0;  // the small ones first
    while (n > 0) sum += terms[--n];
    return 1.0 + sum;
}

// log Gamma(z), z >= 1, by Stirling's series. (std::lgamma writes a global sign: not for threads.)
inline double log_gamma(double z) {
    double product = 1.0;
    for (; z < 16.0; z += 1.0) product *= z;
    const double w = 1.0 / (z * z);
    const double series =
        ((((((1.0 / 156.0) * w - 691.0 / 360360.0) * w + 1.0 / 1188.0) * w - 1.0 / 1680.0) * w +
          1.0 / 1260.0) * w - 1.0 / 360.0) * w + 1.0 / 12.0;
    return (z - 0.5) * std::log(z) - z + 0.5 * kLog2Pi + series / z - std::log(product);
}

struct Mean {
    double length;  // A_d
    double gap;     // 1 - A_d
};

inline Mean mean(double nu, double x) {
    const double s = std::hypot(nu, x);
    if (s < kBorder) {
        const double length =
            0.5 * x / (nu + 1.0) * (power_series(nu + 1.0, x) / power_series(nu, x));
        return {length, 1.0 - length};
    }
    const double p = 1.0 / s;
    const double correction = x * p * p * (0.5 + debye_sum(debye().mean, nu, s));
    return {x / (nu + s) - correction,
            nu / (nu + s) * (1.0 + nu * p / (1.0 + x * p)) + correction};
}

}  // namespace bessel

// Logarithm of the normalising constant c_d(kappa), relative to the surface measure. d >= 2,
// kappa >= 0 and finite; kappa = 0 gives minus the log of the area of the sphere.
inline double log_normalizer(double d, double kappa) {
    using namespace bessel;
    const double nu = 0.5 * d - 1.0;
    const double s = std::hypot(nu, kappa);
    if (s < kBorder)
        return nu * kLog2 + log_gamma(nu + 1.0) - (nu + 1.0) * kLog2Pi -
               std::log(power_series(nu, kappa));
    return nu * std::log(nu + s) - s + 0.5 * std::log(s) - (nu + 0.5) * kLog2Pi -
           debye_sum(debye().log, nu, s);
}

// A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa).
inline double mean_length(double d, double kappa) {
    return bessel::mean(0.5 * d - 1.0, kappa).length;
}

// 1 - A_d(kappa), without cancellation.
inline double mean_length_gap(double d, double kappa) {
    return bessel::mean(0.5 * d - 1.0, kappa).gap;
}

// The kappa whose mean length is rho: 0 for rho <= 0, infinity for rho >= 1, NaN for NaN.
inline double concentration(double d, double rho) {
    if (rho <= 0.0) return 0.0;
    if (rho >= 1.0) return std::numeric_limits<double>::infinity();
    const double nu = 0.5 * d - 1.0;
    const double alpha = nu + 0.5;
    const double beta = nu + 1.5;
    const double gap = 1.0 - rho;
    const double square_gap = gap * (1.0 + rho);
    // Inverse of x / (alpha + hypot(beta, x)), a lower bound of A_d that is exact at both ends.
    double x = rho / square_gap *
               (alpha + std::sqrt((rho * alpha) * (rho * alpha) + square_gap * (beta * beta)));
    // Newton's iteration on rho / (1 - rho^2), nearly linear in x.
    for (int step = nu < 0.5 ? 4 : nu < 15.0 ? 3 : 2; step > 0; --step) {
        const bessel::Mean m = bessel::mean(nu, x);
        const double h = std::hypot(beta, x);
        const bool exact = x > 1e-2 && h < 1e6;  // elsewhere the exact slope loses its digits
        const double slope = exact
                                 ? m.gap * (1.0 + m.length) - 2.0 * alpha * (m.length / x)
                                 : (alpha + beta * (beta / h)) / (alpha + h) / (alpha + h);
        const double miss = rho <= 0.5 ? rho - m.length : m.gap - gap;
        x += miss / slope * ((1.0 + rho * m.length) / (1.0 + m.length * m.length)) *
             (m.gap * (1.0 + m.length) / square_gap);
    }
    return x;
}

}  // namespace spheremix
