// The exact M-step: the compiled twin of models/profile.py, which explains the mathematics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "bessel.hpp"

namespace spheremix {

// One component's |r| and thresholds, split once by the interval [low, high] in which kappa lies:
// coordinates well in play at low are in play everywhere and enter by three sums; those not in play
// at high never are; only the rest is looked at again for each kappa.
struct Component {
    std::vector<double> lengths;     // |r_j| of the undecided coordinates
    std::vector<double> thresholds;  // theirs; empty when one threshold serves all
    double threshold = 0.0;
    double sum_rr = 0.0, sum_rt = 0.0, sum_tt = 0.0;  // over coordinates always in play
};

struct Term {
    double profile, slope, square;  // g, g', S
};

// Eight lanes summed in a fixed order: the compiler maps them on whatever registers there are.
struct Lanes {
    static constexpr std::size_t width = 8;
    double v[width] = {};
    double sum() const {
        return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
    }
};

inline void scan(const double* lengths, const double* thresholds, double threshold, std::size_t n,
                 double kappa, double& ee, double& er, double& rr) {
    Lanes a, b, c;
    std::size_t j = 0;
    for (; j + Lanes::width <= n; j += Lanes::width) {
        for (std::size_t l = 0; l < Lanes::width; ++l) {
            const double r = lengths[j + l];
            const double margin = kappa * r - (thresholds ? thresholds[j + l] : threshold);
            const double e = margin > 0.0 ? margin : 0.0;
            a.v[l] += e * e;
            b.v[l] += e * r;
            c.v[l] += margin > 0.0 ? r * r : 0.0;
        }
    }
    for (std::size_t l = 0; j < n; ++j, ++l) {
        const double r = lengths[j];
        const double margin = kappa * r - (thresholds ? thresholds[j] : threshold);
        if (margin > 0.0) {
            a.v[l] += margin * margin;
            b.v[l] += margin * r;
            c.v[l] += r * r;
        }
    }
    ee += a.sum();
    er += b.sum();
    rr += c.sum();
}

struct Problem {
    const double* vectors;  // (K, d), the components that share kappa
    std::size_t n_components, n_features;
    double beta;
    const double* weights;  // (d,) or null
    double mass;
    std::vector<Component> components;

    double threshold(std::size_t j) const { return weights ? beta * weights[j] : beta; }

    // g where nothing exceeds its threshold: the best single coordinate.
    std::pair<double, std::size_t> one_hot(std::size_t k, double kappa) const {
        const double* r = vectors + k * n_features;
        double best = -std::numeric_limits<double>::infinity();
        std::size_t at = 0;
        for (std::size_t j = 0; j < n_features; ++j) {
            const double margin = kappa * std::abs(r[j]) - threshold(j);
            if (margin > best) best = margin, at = j;
        }
        return {best, at};
    }

    void split(double low, double high) {
        components.assign(n_components, {});
        for (std::size_t k = 0; k < n_components; ++k) {
            Component& c = components[k];
            c.threshold = beta;
            const double* r = vectors + k * n_features;
            for (std::size_t j = 0; j < n_features; ++j) {
                const double length = std::abs(r[j]), t = threshold(j);
                if (!(high * length > t)) continue;
                // Twice the threshold, so that the closed form below does not cancel.
                if (low * length > 2.0 * t) {
                    c.sum_rr += length * length;
                    c.sum_rt += length * t;
                    c.sum_tt += t * t;
                } else {
                    c.lengths.push_back(length);
                    if (weights) c.thresholds.push_back(t);
                }
            }
        }
    }

    Term term(std::size_t k, double kappa) const {
        const Component& c = components[k];
        double ee = (kappa * c.sum_rr - 2.0 * c.sum_rt) * kappa + c.sum_tt;
        double er = kappa * c.sum_rr - c.sum_rt, rr = c.sum_rr;
        scan(c.lengths.data(), weights ? c.thresholds.data() : nullptr, c.threshold,
             c.lengths.size(), kappa, ee, er, rr);
        if (ee > 0.0) {
            const double g = std::sqrt(ee);
            return {g, er / g, rr};
        }
        const auto [margin, j] = one_hot(k, kappa);
        const double slope = std::abs(vectors[k * n_features + j]);
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

class Search {
  public:
    Search(Problem& problem, double kappa_max) : problem_(problem), kappa_max_(kappa_max) {}

    double maximise(double guess) {
        const auto [low, high] = bounds();
        problem_.split(low, high);
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
        const Problem& p = problem_;
        const double d = static_cast<double>(p.n_features);
        double cheapest = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; p.weights && j < p.n_features; ++j)
            cheapest = std::min(cheapest, p.threshold(j));
        double least = 0.0, most = 0.0;
        for (std::size_t k = 0; k < p.n_components; ++k) {
            const double* r = p.vectors + k * p.n_features;
            Lanes squares;
            double longest = 0.0;
            for (std::size_t j = 0; j < p.n_features; ++j) {
                const double length = std::abs(r[j]);
                if (!p.weights || p.threshold(j) == cheapest) longest = std::max(longest, length);
                squares.v[j % Lanes::width] += length * length;
            }
            least += longest;
            most += std::sqrt(squares.sum());
        }
        const auto limit = [&](double total, double slack) {
            const double rho = std::min(total / p.mass, 1.0);
            const double kappa = rho < 1.0 ? concentration(d, rho) * slack : kappa_max_;
            return std::max(std::min(kappa, kappa_max_), 1e-300);
        };
        return {limit(least, 1.0 - 1e-9), limit(most, 1.0 + 1e-9)};
    }

    Point at(double kappa) const {
        const Problem& p = problem_;
        const double d = static_cast<double>(p.n_features);
        Point point;
        point.kappa = kappa;
        point.profile = point.slopes = 0.0;
        point.terms.resize(p.n_components);
        for (std::size_t k = 0; k < p.n_components; ++k) {
            point.terms[k] = p.term(k, kappa);
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
    double polish(Point point, double low, double high) const {
        for (int i = 0; i < 3; ++i) {
            const double curvature = point.curvature();
            if (curvature >= 0.0 || std::abs(point.slope()) <= 1e-15 * point.pull) break;
            const double step = -point.slope() / curvature;
            const double kappa = std::min(std::max(point.kappa + step, low), high);
            if (std::abs(step) > 1e-4 * point.kappa || kappa == point.kappa) break;
            point = at(kappa);
        }
        return point.kappa;
    }

    Problem& problem_;
    double kappa_max_;
};

// The best unit vector at this kappa. OUT: prototype (d,), dot <mu, r>, penalty.
inline void direction(const Problem& p, std::size_t k, double kappa, double* prototype, double& dot,
                      double& penalty) {
    const double* r = p.vectors + k * p.n_features;
    Lanes ee;
    for (std::size_t j = 0; j < p.n_features; ++j) {
        const double margin = kappa * std::abs(r[j]) - p.threshold(j);
        const double e = margin > 0.0 ? margin : 0.0;
        prototype[j] = std::copysign(e, r[j]);
        ee.v[j % Lanes::width] += e * e;
    }
    const double norm = std::sqrt(ee.sum());
    if (!(norm > 0.0)) {
        const std::size_t j = p.one_hot(k, kappa).second;
        std::fill(prototype, prototype + p.n_features, 0.0);
        prototype[j] = std::copysign(1.0, r[j]);
        dot = std::abs(r[j]);
        penalty = p.threshold(j);
        return;
    }
    const double inverse = 1.0 / norm;
    Lanes dots, costs;
    for (std::size_t j = 0; j < p.n_features; ++j) {
        // Adding zero turns the -0 of a negative, thresholded coordinate into a plain zero.
        const double mu = prototype[j] * inverse + 0.0;
        prototype[j] = mu;
        dots.v[j % Lanes::width] += mu * r[j];
        costs.v[j % Lanes::width] += std::abs(mu) * p.threshold(j);
    }
    dot = dots.sum();
    penalty = costs.sum();
}

}  // namespace spheremix
