// The exact M-step: the compiled twin of models/profile.py, which explains the mathematics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bessel.hpp"
#include "cpu.hpp"
#include "pool.hpp"

namespace spheremix {

// ----------------------- the loops, compiled once per instruction set, and the choice between them

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

// ---------------------------------------------------------------------------- the search for kappa

struct Term {
    double profile, slope, square;  // g, g', S
};

// Components that share kappa.
struct Problem {
    const double* vectors;  // (K, d)
    std::int64_t n_components, n_features;
    double beta;
    const double* weights;  // (d,) or null
    double mass, length;    // n of h, and what is added to its slope: those of the prior, to begin with
    const Measure* measures;  // (K,)
    std::vector<Part> parts;

    double threshold(std::int64_t j) const { return weights ? beta * weights[j] : beta; }

    // g and its slope where nothing exceeds its threshold: those of the best single feature.
    std::pair<double, double> peak(std::int64_t k, double kappa) const {
        if (!weights) return {kappa * measures[k].longest - beta, measures[k].longest};
        const auto [margin, j] = one_hot(k, kappa);
        return {margin, std::abs(vectors[k * n_features + j])};
    }

    std::pair<double, std::int64_t> one_hot(std::int64_t k, double kappa) const {
        const double* r = vectors + k * n_features;
        double best = -std::numeric_limits<double>::infinity(), longest = 0.0;
        std::int64_t at = 0;
        for (std::int64_t j = 0; j < n_features; ++j) {
            const double length = std::abs(r[j]), margin = kappa * length - threshold(j);
            // Beside a huge threshold kappa |r| is lost to rounding: of equal margins, the longest.
            if (margin > best || (margin == best && length > longest))
                best = margin, longest = length, at = j;
        }
        return {best, at};
    }

    Term term(std::int64_t k, double kappa) const {
        double ee, er, rr;
        loops().evaluate(parts[k], kappa, ee, er, rr);
        if (ee > 0.0) {
            const double g = std::sqrt(ee);
            return {g, er / g, rr};
        }
        const auto [margin, slope] = peak(k, kappa);
        return {margin, slope, slope * slope};
    }
};

// h and what its bounds need, at one kappa.
struct Point {
    double kappa, value, pull, pull_slope;  // pull: n A_d
    double profile, slopes;                 // sums over components of g_k and g_k'
    std::vector<Term> terms;

    double slope() const { return slopes - pull; }
    double curvature() const {
        double bend = 0.0;
        for (const Term& t : terms) {
            const double excess = t.square - t.slope * t.slope;
            if (excess > 0.0) bend += excess / std::max(t.profile, 0.0);
        }
        return bend - pull_slope;
    }
};

// Run body(k) for every component, on the pool's threads where there is work for them.
template <class Body>
inline void over_components(std::int64_t n_components, std::int64_t n_features, int n_threads,
                            const Body& body) {
    const int threads = n_components * n_features < (std::int64_t{1} << 16) ? 1 : n_threads;
    Pool::instance().run(
        n_components, threads,
        [](void* context, std::int64_t k, int) { (*static_cast<const Body*>(context))(k); },
        const_cast<Body*>(&body));
}

class Search {
  public:
    Search(Problem& problem, double kappa_max, int n_threads)
        : problem_(problem), kappa_max_(kappa_max), n_threads_(n_threads) {}

    Point maximise(double guess) {
        const auto [low, high] = bounds();
        split(low, high);
        Point first = at(low), last = at(high);
        Point best = first.value >= last.value ? first : last;
        std::vector<std::pair<Point, Point>> intervals;
        intervals.emplace_back(std::move(first), std::move(last));
        double cut = guess;
        while (!intervals.empty()) {
            auto [a, b] = std::move(intervals.back());
            intervals.pop_back();
            const bool inside = a.kappa < cut && cut < b.kappa;
            const double middle = inside ? cut : 0.5 * (a.kappa + b.kappa);
            cut = std::numeric_limits<double>::quiet_NaN();
            if (monotone(a, b) || bound(a, b) <= best.value) continue;
            if (b.kappa - a.kappa <= 1e-13 * b.kappa) continue;
            if (!(a.kappa < middle && middle < b.kappa)) continue;
            if (concave(a, b)) {
                Point top = root(a, b);
                if (top.value > best.value) best = std::move(top);
                continue;
            }
            Point point = at(middle);
            if (point.value > best.value) best = point;
            intervals.emplace_back(std::move(a), point);
            intervals.emplace_back(std::move(point), std::move(b));
        }
        return polish(std::move(best), low, high);
    }

  private:
    std::pair<double, double> bounds() const {
        const auto limit = [&](double total, double slack) {
            const double rho = std::min(total / problem_.mass, 1.0);
            const double d = static_cast<double>(problem_.n_features);
            const double kappa = rho < 1.0 ? concentration(d, rho) * slack : kappa_max_;
            return std::max(std::min(kappa, kappa_max_), 1e-300);
        };
        // Slopes of the profiles at kappa = 0 and at infinity.
        double least = problem_.length, most = problem_.length;
        for (std::int64_t k = 0; k < problem_.n_components; ++k) {
            least += problem_.measures[k].longest;
            most += std::sqrt(problem_.measures[k].squares);
        }
        return {limit(least, 1.0 - 1e-9), limit(most, 1.0 + 1e-9)};
    }

    void split(double low, double high) {
        Problem& p = problem_;
        p.parts.resize(p.n_components);
        over_components(p.n_components, p.n_features, n_threads_, [&](std::int64_t k) {
            loops().split(p.vectors + k * p.n_features, p.beta, p.weights, low, high, p.n_features,
                          p.parts[k]);
        });
    }

    Point at(double kappa) const {
        const Problem& p = problem_;
        const double d = static_cast<double>(p.n_features);
        Point point;
        point.kappa = kappa;
        point.profile = kappa * p.length;
        point.slopes = p.length;
        point.terms.resize(p.n_components);
        std::int64_t undecided = 0;
        for (const Part& part : p.parts) undecided += part.n;
        over_components(p.n_components, undecided / p.n_components, n_threads_,
                        [&](std::int64_t k) { point.terms[k] = p.term(k, kappa); });
        for (std::int64_t k = 0; k < p.n_components; ++k) {
            point.profile += point.terms[k].profile;
            point.slopes += point.terms[k].slope;
        }
        const double ratio = mean_length(d, kappa);
        point.pull = p.mass * ratio;
        point.pull_slope = p.mass * (1.0 - ratio * ratio - (d - 1.0) * ratio / kappa);
        point.value = point.profile + p.mass * log_normalizer(d, kappa);
        return point;
    }

    static bool monotone(const Point& a, const Point& b) {
        return a.slopes >= b.pull || b.slopes <= a.pull;
    }

    // The chord of the convex part and the tangents of the concave one.
    static double bound(const Point& a, const Point& b) {
        const double width = b.kappa - a.kappa;
        const double drop = (b.value - b.profile) - (a.value - a.profile);
        const double bend = b.pull - a.pull;
        const double meet = (drop + b.pull * width) / bend;
        const double t = bend > 0.0 ? std::min(std::max(meet, 0.0), width) : 0.5 * width;
        const double peak = a.value + (b.profile - a.profile) * t / width - a.pull * t;
        return std::max({a.value, b.value, peak});
    }

    static bool concave(const Point& a, const Point& b) {
        double total = 0.0;
        for (std::size_t k = 0; k < a.terms.size(); ++k) {
            const double bend = b.terms[k].square - a.terms[k].slope * a.terms[k].slope;
            if (bend <= 1e-12 * b.terms[k].square) continue;
            if (a.terms[k].profile <= 0.0) return false;
            total += bend / a.terms[k].profile;
        }
        return total < 0.99 * b.pull_slope - 1e-14 * b.pull;
    }

    Point root(const Point& a, const Point& b) const {
        if (a.slope() <= 0.0) return a;
        if (b.slope() >= 0.0) return b;
        double low = a.kappa, high = b.kappa;
        Point point = a;
        for (int i = 0; i < 100; ++i) {
            double kappa = point.kappa - point.slope() / point.curvature();
            if (!(low < kappa && kappa < high)) kappa = 0.5 * (low + high);
            const double step = std::abs(kappa - point.kappa);
            point = at(kappa);
            (point.slope() > 0.0 ? low : high) = kappa;
            if (step <= 1e-14 * kappa || std::abs(point.slope()) <= 1e-15 * point.pull) break;
        }
        return point;
    }

    // A maximum whose value is right to rounding has its kappa right to half the digits only.
    Point polish(Point point, double low, double high) const {
        for (int i = 0; i < 3; ++i) {
            const double curvature = point.curvature();
            if (curvature >= 0.0 || std::abs(point.slope()) <= 1e-15 * point.pull) break;
            const double step = -point.slope() / curvature;
            const double kappa = std::min(std::max(point.kappa + step, low), high);
            if (std::abs(step) > 1e-4 * point.kappa || kappa == point.kappa) break;
            point = at(kappa);
        }
        return point;
    }

    Problem& problem_;
    double kappa_max_;
    int n_threads_;
};

}  // namespace spheremix
