// Python's door to the sweep over the components that may win.
#include "sweep_door.hpp"

namespace spheremix {
namespace {

struct NearArrays {
    Array<double> matrix, biases;
    Array<std::int32_t> members, place;
    Array<bool> moved;
    Array<double> lost, grown, beyond;
    double eagerness, rounding, rounding_before;
    Array<float> bounds;
    Array<double> scores;
    Array<bool> known;
    Array<std::int32_t> owners;
};

bool all_below(const Array<std::int32_t>& numbers, Index least, Index limit) {
    bool inside = true;
    for (Index i = 0; i < numbers.size(); ++i)
        inside &= numbers.data()[i] >= least && numbers.data()[i] < limit;
    return inside;
}

// The components of their places, checked: a group, and the components that have moved far, have
// them first and empty places after; and the place of each component in the groups is its own.
Near view(NearArrays& a, const py::object& weights, Index n_rows) {
    require_aligned(a.matrix, a.biases, a.members, a.place, a.lost, a.grown, a.beyond, a.bounds,
                    a.scores, a.owners);
    require(a.matrix.ndim() == 2 && a.bounds.ndim() == 2 && a.place.size() > 0,
            "the arrays of the components do not fit together");
    Near near{};
    near.n_places = a.matrix.shape(0);
    near.n_features = a.matrix.shape(1);
    near.n_groups = a.bounds.shape(0);
    near.n_components = a.place.size();
    const Index n_far = a.beyond.size();
    const Index in_groups = near.n_places - n_far;
    near.group_size = near.n_groups > 0 ? in_groups / near.n_groups : 0;
    require(near.n_features > 0 && near.n_places < (Index{1} << 31) && near.n_groups > 0 &&
                near.group_size > 0 && near.first_far() == in_groups &&
                near.group_size % near_multiple == 0 && n_far % near_multiple == 0 &&
                a.biases.size() == near.n_places && a.members.size() == near.n_places &&
                a.moved.size() == near.n_components && a.lost.size() == near.n_components &&
                a.grown.size() == near.n_groups,
            "the arrays of the components do not fit together");
    require(a.bounds.shape(1) == n_rows && a.scores.size() == n_rows && a.known.size() == n_rows &&
                a.owners.size() == n_rows,
            "what is known of the rows does not fit them");
    require(all_below(a.members, -1, near.n_components) && all_below(a.place, 0, in_groups) &&
                all_below(a.owners, 0, near.n_components),
            "there is no such component");
    bool in_order = true;
    for (Index p = 0; p + 1 < near.n_places; ++p) {
        const bool last = p < in_groups && (p + 1) % near.group_size == 0;
        in_order &= last || a.members.data()[p] >= 0 || a.members.data()[p + 1] < 0;
    }
    for (Index k = 0; k < near.n_components; ++k)
        in_order &= a.members.data()[a.place.data()[k]] == k;
    require(in_order, "the places of the components do not fit together");
    near.matrix = a.matrix.data();
    near.biases = a.biases.data();
    near.members = a.members.data();
    near.place = a.place.data();
    near.moved = reinterpret_cast<const unsigned char*>(a.moved.data());
    near.lost = a.lost.data();
    near.grown = a.grown.data();
    near.beyond = a.beyond.data();
    near.eagerness = a.eagerness;
    near.rounding = a.rounding;
    near.rounding_before = a.rounding_before;
    near.bounds = a.bounds.mutable_data();
    near.scores = a.scores.mutable_data();
    near.known = reinterpret_cast<unsigned char*>(a.known.mutable_data());
    near.owners = a.owners.mutable_data();
    if (!weights.is_none()) {
        const auto w = array_of<double>(weights, "weights must be contiguous float64");
        require(has_shape(w, {n_rows}), "weights must be of shape (n,)");
        near.weights = w.data();
    }
    return near;
}

std::int64_t near_dense(const py::array& x, const Array<double>& scale, NearArrays& arrays,
                        const py::object& weights, bool in_double, int n_threads) {
    require_threads(n_threads);
    require(arrays.matrix.ndim() == 2, "matrix must be two-dimensional");
    const Near near = view(arrays, weights, dense_count(x, arrays.matrix.shape(1)));
    std::int64_t n_scores = 0;
    with_dense(x, scale, 0, in_double, List(), [&](const auto& rows, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(dense_near<P>, rows, near, n_scores, n_threads, pulse);
        });
    });
    return n_scores;
}

}  // namespace

void bind_near(py::module_& m) {
    py::class_<NearArrays>(m, "NearArrays", py::module_local(),
                           "Components in groups, those that have moved far, and what is known of "
                           "the rows: see csrc/sweep_task.hpp.")
        .def(py::init([](Array<double> matrix, Array<double> biases, Array<std::int32_t> members,
                         Array<std::int32_t> place, Array<bool> moved, Array<double> lost,
                         Array<double> grown, Array<double> beyond, double eagerness,
                         double rounding, double rounding_before, Array<float> bounds, Array<double> scores,
                         Array<bool> known, Array<std::int32_t> owners) {
                 return NearArrays{std::move(matrix), std::move(biases), std::move(members),
                                   std::move(place),  std::move(moved),  std::move(lost),
                                   std::move(grown),  std::move(beyond), eagerness,
                                   rounding,          rounding_before,   std::move(bounds),
                                   std::move(scores), std::move(known),  std::move(owners)};
             }),
             py::arg("matrix").noconvert(), py::arg("biases").noconvert(),
             py::arg("members").noconvert(), py::arg("place").noconvert(),
             py::arg("moved").noconvert(), py::arg("lost").noconvert(),
             py::arg("grown").noconvert(), py::arg("beyond").noconvert(), py::arg("eagerness"),
             py::arg("rounding"), py::arg("rounding_before"), py::arg("bounds").noconvert(),
             py::arg("scores").noconvert(), py::arg("known").noconvert(),
             py::arg("owners").noconvert());
    m.attr("NEAR_MULTIPLE") = near_multiple;
    m.attr("NEAR_BEYOND") = near_beyond;
    m.def("near_dense", &near_dense,
          "Bring the owners and scores of dense rows, and the bounds of the others, up to date; "
          "give the number of scores that were computed.",
          py::arg("x"), py::arg("scale").noconvert(), py::arg("arrays"), py::arg("weights"),
          py::arg("in_double"), py::arg("n_threads"));
}

}  // namespace spheremix
