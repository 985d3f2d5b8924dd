// Binding of the M-step: checks shapes, releases the GIL, loops over components.
#include "mstep.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace py = pybind11;

namespace spheremix {
namespace {

using Array = py::array_t<double, py::array::c_style>;

// IN vectors (K, d), mass (K,), weights (d,) or None, kappas (K,): the given ones or first guesses,
// old_prototypes (K, d). Returns prototypes (K, d), kappas (K,), <mu_k, r_k> (K,), the penalty, and
// the last two of the old prototypes.
py::tuple maximise(const Array& vectors, const Array& mass, double beta,
                   const std::optional<Array>& weights, const std::string& mode,
                   const Array& kappas, double kappa_max, const Array& old_prototypes) {
    if (vectors.ndim() != 2) throw std::invalid_argument("vectors must be 2-D");
    const std::size_t K = vectors.shape(0), d = vectors.shape(1);
    const py::ssize_t length = vectors.shape(0);
    if (mass.ndim() != 1 || kappas.ndim() != 1 || old_prototypes.ndim() != 2 ||
        std::size_t(mass.shape(0)) != K || std::size_t(kappas.shape(0)) != K ||
        std::size_t(old_prototypes.shape(0)) != K || std::size_t(old_prototypes.shape(1)) != d ||
        (weights && (weights->ndim() != 1 || std::size_t(weights->shape(0)) != d)))
        throw std::invalid_argument("shapes do not agree");
    const bool shared = mode == "shared", given = mode == "given";
    Array prototypes({length, vectors.shape(1)}), new_kappas(length), dots(length), old_dots(length);
    double penalty = 0.0, old_penalty = 0.0;
    {
        const double* r = vectors.data();
        const double* n = mass.data();
        const double* w = weights ? weights->data() : nullptr;
        const double* guess = kappas.data();
        const double* old = old_prototypes.data();
        double *mu = prototypes.mutable_data(), *kappa = new_kappas.mutable_data();
        double *dot = dots.mutable_data(), *old_dot = old_dots.mutable_data();
        py::gil_scoped_release released;
        double total = 0.0;
        for (std::size_t k = 0; k < K; ++k) total += n[k];
        Problem all{r, K, d, beta, w, total, {}};
        if (shared) {
            const double best = Search(all, kappa_max).maximise(guess[0]);
            std::fill(kappa, kappa + K, best);
        }
        for (std::size_t k = 0; k < K; ++k) {
            if (given) {
                kappa[k] = guess[k];
            } else if (!shared) {
                Problem one{r + k * d, 1, d, beta, w, n[k], {}};
                kappa[k] = Search(one, kappa_max).maximise(guess[k]);
            }
            double cost;
            direction(all, k, kappa[k], mu + k * d, dot[k], cost);
            penalty += cost;
            Lanes products, costs;
            for (std::size_t j = 0; j < d; ++j) {
                const double m = old[k * d + j];
                products.v[j % Lanes::width] += m * r[k * d + j];
                costs.v[j % Lanes::width] += std::abs(m) * all.threshold(j);
            }
            old_dot[k] = products.sum();
            old_penalty += costs.sum();
        }
    }
    return py::make_tuple(prototypes, new_kappas, dots, penalty, old_dots, old_penalty);
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
