// Binding of the M-step: checks shapes, releases the GIL, treats the components one by one or together.
#include "mstep.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "door.hpp"

namespace spheremix {
namespace {

struct Inputs {
    const double *vectors, *mass, *weights, *kappas, *old_prototypes;
    std::int64_t n_components, n_features;
    double beta, kappa_max, prior_mass, prior_length;
    bool shared, given;
    int n_threads;
};

struct Outputs {
    double *prototypes, *kappas, *log_normalizers, *dots, *norms, *old_dots, *old_norms;
};

// The best kappa of n components that share it, and their profiles there. Where all coordinates
// are free the profile is kappa |r| and the answer is known.
void concentrate(const Inputs& in, const Measure* measures, std::int64_t first, std::int64_t n,
                 int n_threads, double* kappas, double* profiles) {
    const double d = static_cast<double>(in.n_features);
    Problem problem{in.vectors + first * in.n_features, n, in.n_features, in.beta, in.weights,
                    in.prior_mass, in.prior_length, measures + first, {}};
    double length = in.prior_length;
    for (std::int64_t k = first; k < first + n; ++k) {
        problem.mass += in.mass[k];
        length += std::sqrt(measures[k].squares);
    }
    if (in.beta == 0.0) {
        // Identical rows give a mean length above one by rounding.
        const double rho = std::min(length / problem.mass, 1.0);
        const double kappa = std::min(concentration(d, rho), in.kappa_max);
        for (std::int64_t k = first; k < first + n; ++k) {
            kappas[k] = kappa;
            profiles[k] = kappa * std::sqrt(measures[k].squares);
        }
        return;
    }
    const Point best = Search(problem, in.kappa_max, n_threads).maximise(in.kappas[first]);
    for (std::int64_t k = 0; k < n; ++k) {
        kappas[first + k] = best.kappa;
        profiles[first + k] = best.terms[k].profile;
    }
}

void maximise_all(const Inputs& in, const Outputs& out) {
    const std::int64_t K = in.n_components, d = in.n_features;
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; in.weights && j < d; ++j) cheapest = std::min(cheapest, in.weights[j]);
    std::vector<Measure> measures(K);
    std::vector<double> profiles(K);
    over_components(K, d, in.n_threads, [&](std::int64_t k) {
        loops().measure(in.vectors + k * d, in.old_prototypes + k * d, in.weights, cheapest, d,
                        measures[k]);
        out.old_dots[k] = measures[k].old_dot;
        out.old_norms[k] = measures[k].old_norm;
    });
    if (in.given) {
        std::copy(in.kappas, in.kappas + K, out.kappas);
    } else if (in.shared) {
        concentrate(in, measures.data(), 0, K, in.n_threads, out.kappas, profiles.data());
    } else {
        over_components(K, d, in.n_threads, [&](std::int64_t k) {
            concentrate(in, measures.data(), k, 1, 1, out.kappas, profiles.data());
        });
    }
    over_components(K, d, in.n_threads, [&](std::int64_t k) {
        const double kappa = out.kappas[k];
        Problem one{in.vectors + k * d, 1, d, in.beta, in.weights, 0.0, 0.0, measures.data() + k, {}};
        double* mu = out.prototypes + k * d;
        if (in.given) {
            one.parts.resize(1);
            loops().split(one.vectors, in.beta, in.weights, kappa, kappa, d, one.parts[0]);
            profiles[k] = one.term(0, kappa).profile;
        }
        if (profiles[k] > 0.0) {
            loops().direction(one.vectors, kappa, in.beta, in.weights, profiles[k], d, mu,
                              out.dots[k], out.norms[k]);
        } else {
            const std::int64_t j = one.one_hot(0, kappa).second;
            std::fill(mu, mu + d, 0.0);
            mu[j] = std::copysign(1.0, one.vectors[j]);
            out.dots[k] = std::abs(one.vectors[j]);
            out.norms[k] = in.weights ? in.weights[j] : 1.0;
        }
        out.log_normalizers[k] = log_normalizer(static_cast<double>(d), kappa);
    });
}

// IN vectors (K, d), mass (K,), weights (d,) or None, kappas (K,): the given ones or first guesses,
// old_prototypes (K, d); prior_mass and prior_length are added to the masses and to the lengths of the
// resultants that an estimated kappa sees. Returns, of the best parameters, prototypes (K, d), kappas, log c_d,
// <mu_k, r_k> and weighted l1 norms (K,); then the last two of the old prototypes.
py::tuple maximise(const Array<double>& vectors, const Array<double>& mass, double beta,
                   const std::optional<Array<double>>& weights, const std::string& mode,
                   const Array<double>& kappas, double kappa_max, double prior_mass,
                   double prior_length, const Array<double>& old_prototypes, int n_threads) {
    require_threads(n_threads);
    require_aligned(vectors, mass, kappas, old_prototypes);
    require(vectors.ndim() == 2 && vectors.size() > 0,
            "vectors must be two-dimensional, and not empty");
    const py::ssize_t K = vectors.shape(0), d = vectors.shape(1);
    require(has_shape(mass, {K}) && has_shape(kappas, {K}) && has_shape(old_prototypes, {K, d}),
            "shapes do not agree");
    if (weights) require_aligned(*weights);
    require(!weights || has_shape(*weights, {d}), "shapes do not agree");
    require(mode == "shared" || mode == "free" || mode == "given",
            "mode must be 'shared', 'free' or 'given'");
    // Squares of larger numbers overflow, and the search would not end.
    require(mode == "given" || beta == 0.0 || (kappa_max > 0.0 && kappa_max <= 1e100),
            "kappa_max must be above 0 and at most 1e100");
    Array<double> prototypes({K, d}), new_kappas(K), logs(K), dots(K), norms(K), old_dots(K),
        old_norms(K);
    const Inputs in{vectors.data(), mass.data(), weights ? weights->data() : nullptr, kappas.data(),
                    old_prototypes.data(), K, d, beta, kappa_max, prior_mass, prior_length,
                    mode == "shared", mode == "given", n_threads};
    const Outputs out{prototypes.mutable_data(), new_kappas.mutable_data(), logs.mutable_data(),
                      dots.mutable_data(), norms.mutable_data(), old_dots.mutable_data(),
                      old_norms.mutable_data()};
    {
        py::gil_scoped_release released;
        maximise_all(in, out);
    }
    return py::make_tuple(prototypes, new_kappas, logs, dots, norms, old_dots, old_norms);
}

}  // namespace

void bind_mstep(py::module_& m) {
    m.def("maximise", &maximise, "The exact M-step; see models/maximise.py.");
    m.def("log_normalizer", &log_normalizer, py::arg("d"), py::arg("kappa"));
    m.def("mean_length", &mean_length, py::arg("d"), py::arg("kappa"));
    m.def("mean_length_gap", &mean_length_gap, py::arg("d"), py::arg("kappa"));
    m.def("concentration", &concentration, py::arg("d"), py::arg("rho"));
}

}  // namespace spheremix
