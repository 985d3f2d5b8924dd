// From the products of one row to its posteriors and what they add to the sums. Always in double
// precision, whatever the data: this is K work a row, the products are K times the row's length.
// Included once per instruction set, inside its namespace.

static inline int lowest_bit(unsigned mask) {
#if SPHEREMIX_GNU
    return __builtin_ctz(mask);
#else
    int i = 0;
    while (!(mask >> i & 1u)) ++i;
    return i;
#endif
}

static constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Below this difference to the largest score an exponential cannot change a sum that is at least 1.
static constexpr double invisible = -60.0;

// s[k] = scale * products[k] + biases[k] for all k, rounded up to whole vectors.
// IN products, biases (padded); OUT s (padded).
template <class T>
static inline void affine(const T* products, double scale, const double* biases,
                          std::int64_t n_components, double* s) {
    using V = Doubles;
    const V::Reg factor = V::set1(scale);
    for (std::int64_t k = 0; k < n_components; k += V::width)
        V::store(s + k, V::fma(factor, V::load(products + k), V::load(biases + k)));
}

// OUT s: the scores of row number i of a sweep, from the products of its columns and from what is
// given of other columns. The sums are left for others where that is asked for.
template <class T>
static inline void score_row(const Scorers& scorers, std::int64_t i, const T* products, double scale,
                             const double* biases, double* s, bool leave) {
    const std::int64_t n = scorers.n_components;
    if (!scorers.given) return affine(products, scale, biases, n, s);
    double* given = scorers.given + i * n;
    if (scorers.complete) {
        std::copy_n(given, n, s);
        return;
    }
    affine(products, scale, biases, n, s);
    for (std::int64_t k = 0; k < n; ++k) s[k] += given[k];
    if (leave) std::copy_n(s, n, given);
}

static inline double largest(const double* s, std::int64_t n) {
    using V = Doubles;
    V::Reg top = V::set1(minus_infinity);
    std::int64_t k = 0;
    for (; k + V::width <= n; k += V::width) top = V::max(top, V::load(s + k));
    if (k < n) top = V::max(top, V::load_first(s + k, static_cast<int>(n - k), minus_infinity));
    return V::max(top);
}

static inline std::int64_t first_largest(const double* s, std::int64_t n, double top) {
    using V = Doubles;
    const V::Reg bound = V::set1(top);
    std::int64_t k = 0;
    for (; k + V::width <= n; k += V::width)
        if (const unsigned mask = V::not_below(V::load(s + k), bound)) return k + lowest_bit(mask);
    for (; k < n; ++k)
        if (s[k] >= top) return k;
    return 0;
}

// Whether all scores but one are too small to be seen beside the largest.
static inline bool alone(const double* s, std::int64_t n, double top) {
    using V = Doubles;
    const V::Reg bound = V::set1(top + invisible);
    unsigned seen = 0;
    std::int64_t k = 0;
    for (; k + V::width <= n; k += V::width) {
        const unsigned mask = V::not_below(V::load(s + k), bound);
        if ((seen && mask) || (mask & (mask - 1))) return false;
        seen |= mask;
    }
    for (; k < n; ++k) {
        const unsigned mask = s[k] >= top + invisible;
        if (seen && mask) return false;
        seen |= mask;
    }
    return true;
}

struct Exponentials {
    double top;    // the largest score
    double total;  // sum of exp(s - top)
    double slope;  // sum of exp(s - top) * (s - top)
};

// IN top: the largest score. OUT e[k] = exp(s[k] - top); vectors of differences below `cut` give 0
// without being computed.
static inline Exponentials exponentials(const double* s, std::int64_t n, double top, double cut,
                                        double* e) {
    using V = Doubles;
    const V::Reg shift = V::set1(top);
    const V::Reg bound = V::set1(cut);
    const V::Reg floor = V::set1(-1000.0);  // 0 times a difference is never 0 times infinity
    V::Reg total = V::set1(0.0);
    V::Reg slope = V::set1(0.0);
    std::int64_t k = 0;
    for (; k + V::width <= n; k += V::width) {
        const V::Reg x = V::load(s + k) - shift;
        if (!V::not_below(x, bound)) {
            V::store(e + k, V::set1(0.0));
            continue;
        }
        const V::Reg y = exp_negative(x);
        V::store(e + k, y);
        total = total + y;
        slope = V::fma(y, V::max(x, floor), slope);
    }
    if (k < n) {
        const int rest = static_cast<int>(n - k);
        const V::Reg x = V::load_first(s + k, rest, minus_infinity) - shift;
        const V::Reg y = exp_negative(x);
        V::store_first(e + k, y, rest);
        total = total + y;
        slope = V::fma(y, V::max(x, floor), slope);
    }
    return {top, V::sum(total), V::sum(slope)};
}

// The smallest k whose cumulative posterior exceeds u.
static inline std::int64_t draw(const double* e, std::int64_t n, double total, double u) {
    const double inverse = 1.0 / total;
    double cumulative = 0.0;
    std::int64_t last = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        const double t = e[k] * inverse;
        cumulative += t;
        if (cumulative > u) return k;
        if (t > 0.0) last = k;
    }
    return last;
}

// The components a row is assigned to, and how much of it: only those that are not negligible.
// Listed, or where `dense` is given written there, among zeros.
struct Shares {
    std::int32_t* component;  // (n_components + a vector,)
    double* value;            // posterior times weight
    std::int64_t size;
    double* dense;            // (n_components,), null for a list

    void add(std::int64_t k, double x) {
        if (dense) {
            dense[k] = x;
            return;
        }
        component[size] = static_cast<std::int32_t>(k);
        value[size++] = x;
    }
};

// OUT shares: appended; e: exponentials of one group.
static inline void share(const double* e, std::int64_t begin, std::int64_t n, double least,
                         double factor, Shares& shares) {
    using V = Doubles;
    const V::Reg bound = V::set1(least);
    const V::Reg by = V::set1(factor);
    constexpr unsigned all = (1u << V::width) - 1u;
    std::int64_t k = 0;
    if (shares.dense) {
        double* out = shares.dense + begin;
        for (; k + V::width <= n; k += V::width) {
            const V::Reg x = V::load(e + k);
            V::store(out + k, V::zero_below(x * by, x, least));
        }
        for (; k < n; ++k) out[k] = e[k] >= least ? e[k] * factor : 0.0;
        return;
    }
    for (; k + V::width <= n; k += V::width) {
        const V::Reg x = V::load(e + k);
        unsigned mask = V::not_below(x, bound);
        if (mask == all) {
            V::store(shares.value + shares.size, x * by);
            for (int i = 0; i < V::width; ++i)
                shares.component[shares.size + i] = static_cast<std::int32_t>(begin + k + i);
            shares.size += V::width;
            continue;
        }
        for (; mask; mask &= mask - 1) {
            const std::int64_t at = k + lowest_bit(mask);
            shares.component[shares.size] = static_cast<std::int32_t>(begin + at);
            shares.value[shares.size] = e[at] * factor;
            ++shares.size;
        }
    }
    for (; k < n; ++k) {
        shares.component[shares.size] = static_cast<std::int32_t>(begin + k);
        shares.value[shares.size] = e[k] * factor;
        shares.size += e[k] >= least;
    }
}

// What a row of weight w adds to a component that it joins (sign 1) or leaves (sign -1), per unit of
// weight and without the bias. IN product: <x, M_k>; pull: the two numbers of Scorer.pulls.
static inline double varied(double product, const double* pull, double signed_weight) {
    const double square = 1.0 + 2.0 * signed_weight * pull[1] * product +
                          signed_weight * signed_weight * pull[0] * pull[1];
    return (2.0 * product + signed_weight * pull[0]) / (1.0 + std::sqrt(std::max(square, 0.0)));
}

// The component that a row of weight w adds most to, its own turning of it included; the first one
// of equals. IN s: scores of one group; top: the first largest; biases, pulls: of the group.
static inline std::int64_t first_variation(const double* s, std::int64_t n, std::int64_t top,
                                           const double* biases, const double* pulls, double w) {
    std::int64_t at = top;
    double best = varied(s[top] - biases[top], pulls + 2 * top, -w) + biases[top];
    for (std::int64_t k = 0; k < n; ++k) {
        // A row gains at most half its pull over its score.
        if (k == top || !(s[k] + 0.5 * w * pulls[2 * k] >= best)) continue;
        const double value = varied(s[k] - biases[k], pulls + 2 * k, w) + biases[k];
        if (value > best || (value == best && k < at)) {
            best = value;
            at = k;
        }
    }
    return at;
}

// What one row adds, for all scorers. IN s: its scores. OUT shares; totals: (n_groups, 2).
// Scratch e: (n_components,).
static inline void assign_row(const Scorers& scorers, std::int64_t row, std::uint64_t number,
                              const double* s, double* e, Shares& shares, double* totals) {
    shares.size = 0;
    for (std::int64_t g = 0; g < scorers.n_groups; ++g) {
        const std::int64_t begin = scorers.begin[g];
        const std::int64_t n = scorers.begin[g + 1] - begin;
        const double w = scorers.weight(g, row);
        double* out = totals + 2 * g;
        if (w == 0.0) {
            out[0] = out[1] = 0.0;
            if (scorers.margins) scorers.lead(g, row, -minus_infinity, 0);
            continue;
        }
        const double* sg = s + begin;
        const double top = largest(sg, n);
        if (scorers.margins) {
            const std::int64_t z = first_largest(sg, n, top);
            const double next = std::max(largest(sg, z), largest(sg + z + 1, n - z - 1));
            if (scorers.lead(g, row, top - next, z)) {
                out[0] = out[1] = 0.0;
                continue;
            }
        }
        if (scorers.assignments[g] == variation) {
            const std::int64_t z =
                first_variation(sg, n, first_largest(sg, n, top), scorers.biases + begin,
                                scorers.pulls + 2 * begin, w);
            shares.add(begin + z, w);
            out[0] = w * (sg[z] + scorers.offsets[g]);
            out[1] = 0.0;
            continue;
        }
        if (scorers.assignments[g] == hard || alone(sg, n, top)) {
            shares.add(begin + first_largest(sg, n, top), w);
            out[0] = w * (top + scorers.offsets[g]);
            out[1] = 0.0;
            continue;
        }
        const Exponentials x = exponentials(sg, n, top, invisible, e);
        const double log_total = x.total == 1.0 ? 0.0 : std::log(x.total);
        const double lse = x.top + log_total;
        out[0] = w * (lse + scorers.offsets[g]);
        if (scorers.assignments[g] == soft) {
            out[1] = w * (log_total - x.slope / x.total);
            share(e, begin, n, scorers.negligible * x.total, w / x.total, shares);
        } else {
            const std::int64_t z = draw(e, n, x.total, uniform(scorers.keys + 2 * g, number));
            out[1] = w * (lse - sg[z]);
            shares.add(begin + z, w);
        }
    }
}

// What map_rows gives for one row of one scorer. IN s. Scratch e.
static inline void map_row(const Scorers& scorers, std::int64_t row, std::uint64_t number,
                           const double* s, double* e, const RowMap& out) {
    const std::int64_t n = scorers.n_components;
    const double offset = scorers.offsets[0];
    if (out.want == scores) {
        for (std::int64_t k = 0; k < n; ++k) out.values[row * n + k] = s[k] + offset;
        return;
    }
    if (out.want == labels && scorers.assignments[0] != drawn) {
        const std::int64_t top = first_largest(s, n, largest(s, n));
        out.labels[row] = scorers.assignments[0] == variation
                              ? first_variation(s, n, top, scorers.biases, scorers.pulls, 1.0)
                              : top;
        return;
    }
    // Posteriors are shown down to the smallest.
    const Exponentials x =
        exponentials(s, n, largest(s, n), out.want == posteriors ? minus_infinity : invisible, e);
    if (out.want == labels)
        out.labels[row] = draw(e, n, x.total, uniform(scorers.keys, number));
    else if (out.want == log_density)
        out.values[row] = x.top + std::log(x.total) + offset;
    else
        for (std::int64_t k = 0; k < n; ++k) out.values[row * n + k] = e[k] / x.total;
}
