// Scores of sparse rows and sparse components, by an index of the components' non-zeros by columns,
// and the sums of rows by owner, in sparse form. Both have the bits of a sweep over dense components:
// the products of a row and a component are added in the order of the columns, and those that are
// left out are zero.
// Included once per instruction set, inside its namespace.

// A column is stored in full where at least one component in this many has it.
static constexpr std::int64_t full_share = 4;

// The non-zeros of components by columns, the components of a column in order.
template <class P>
struct ColumnIndex {
    Buffer<std::int64_t> starts;   // (n_features + 1,): of the listed ones
    Buffer<std::int32_t> places;   // of components among the members
    Buffer<P> values;
    Buffer<std::int32_t> full;     // (n_features,): place among the full columns, -1: listed
    Buffer<P> panel;               // (full columns, stride)
    Buffer<double> biases;         // (stride,)
    std::int64_t stride = 0;       // members, rounded up to whole vectors of any kind
};

template <class P>
static void build_index(const SparseComponents& components, ColumnIndex<P>& index) {
    const std::int64_t d = components.n_features, n = components.n_members;
    index.stride = (n + 15) / 16 * 16;
    index.starts.resize(d + 1);
    index.full.resize(d);
    index.biases.resize(index.stride);
    std::fill_n(index.starts.get(), d + 1, 0);
    std::fill_n(index.biases.get(), index.stride, 0.0);
    const auto each = [&](const auto& visit) {
        for (std::int64_t z = 0; z < n; ++z) {
            const std::int64_t k = components.members[z];
            for (std::int64_t p = components.indptr[k]; p < components.indptr[k + 1]; ++p)
                visit(z, components.indices[p], components.values[p]);
        }
    };
    std::int64_t* starts = index.starts.get();
    each([&](std::int64_t, std::int32_t j, double) { ++starts[j + 1]; });
    std::int64_t n_full = 0, total = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        const std::int64_t count = starts[j + 1];
        const bool is_full = count > 0 && count * full_share >= n;
        index.full[j] = is_full ? static_cast<std::int32_t>(n_full++) : -1;
        starts[j] = total;  // where the next one goes: the end of the column in the end
        total += is_full ? 0 : count;
        if (j + 1 == d) starts[d] = total;
    }
    index.places.resize(total);
    index.values.resize(total);
    index.panel.resize(n_full * index.stride);
    std::fill_n(index.panel.get(), n_full * index.stride, P(0));
    each([&](std::int64_t z, std::int32_t j, double value) {
        if (index.full[j] >= 0) {
            index.panel[index.full[j] * index.stride + z] = static_cast<P>(value);
            return;
        }
        index.places[starts[j]] = static_cast<std::int32_t>(z);
        index.values[starts[j]++] = static_cast<P>(value);
    });
    for (std::int64_t j = d; j > 0; --j) starts[j] = starts[j - 1];
    starts[0] = 0;
    for (std::int64_t z = 0; z < n; ++z) index.biases[z] = components.biases[components.members[z]];
}

template <class T, class P, class I>
struct ColumnSweep {
    struct Scratch {
        Buffer<P> products;
        Buffer<double> s, e;
    };
    SparseRows<T, I> rows;
    const SparseComponents* components;
    const Winners* winners = nullptr;  // what is wanted of the rows: their owners, or
    const RowMap* map = nullptr;       // what a scorer says of them
    const Scorers* scorers = nullptr;
    ColumnIndex<P> index;
    std::vector<Scratch> scratch;
    Pulse* pulse;
};

// INOUT products: sum[places[i]] += x * values[i]. The places of a column are distinct.
template <class P>
static inline void add_listed_products(const std::int32_t* __restrict places,
                                       const P* __restrict values, std::int64_t n, P x,
                                       P* __restrict products) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        P* a = products + places[i];
        P* b = products + places[i + 1];
        P* c = products + places[i + 2];
        P* d = products + places[i + 3];
        const P ra = fused(x, values[i], *a);
        const P rb = fused(x, values[i + 1], *b);
        const P rc = fused(x, values[i + 2], *c);
        const P rd = fused(x, values[i + 3], *d);
        *a = ra;
        *b = rb;
        *c = rc;
        *d = rd;
    }
    for (; i < n; ++i) products[places[i]] = fused(x, values[i], products[places[i]]);
}

// OUT own.s: the scores of one row.
template <class T, class P, class I>
static void score_by_columns(const ColumnSweep<T, P, I>& sweep,
                             typename ColumnSweep<T, P, I>::Scratch& own, std::int64_t row) {
    using V = typename Vectors<P>::Full;
    const ColumnIndex<P>& index = sweep.index;
    P* products = own.products.get();
    std::fill_n(products, index.stride, P(0));
    const std::int64_t from = sweep.rows.begin(row), to = sweep.rows.end(row);
    for (std::int64_t p = from; p < to; ++p) {
        const I j = sweep.rows.indices[p];
        const P x = static_cast<P>(sweep.rows.data[p]);
        if (p + 2 < to) {
            const std::int64_t next = index.starts[sweep.rows.indices[p + 2]];
            prefetch(index.places.get() + next);
            prefetch(index.values.get() + next);
        }
        if (index.full[j] < 0) {
            const std::int64_t begin = index.starts[j], end = index.starts[j + 1];
            add_listed_products(index.places.get() + begin, index.values.get() + begin,
                                end - begin, x, products);
            continue;
        }
        const P* column = index.panel.get() + index.full[j] * index.stride;
        const typename V::Reg factor = V::set1(x);
        for (std::int64_t z = 0; z < index.stride; z += V::width)
            V::store(products + z, V::fma(factor, V::load(column + z), V::load(products + z)));
    }
    affine(products, sweep.rows.scale[sweep.rows.row(row)], index.biases.get(),
           sweep.components->n_members, own.s.get());
}

// INOUT the owner of a row, its score and the bound of the others, from the scores of the members.
static inline void find_winner(const SparseComponents& components, const Winners& winners,
                               std::int64_t row, double* s) {
    const std::int64_t n = components.n_members;
    const double best = largest(s, n);
    const std::int64_t at = first_largest(s, n, best);
    if (winners.pulls) {
        const double w = winners.weights ? winners.weights[row] : 1.0;
        const std::int64_t z = first_variation(s, n, at, components.biases, winners.pulls, w);
        winners.owners[row] = static_cast<std::int32_t>(z);
        winners.scores[row] = s[z];
        return;
    }
    const std::int32_t member = components.members[at];
    const double next = std::max(largest(s, at), largest(s + at + 1, n - at - 1));
    std::int32_t& owner = winners.owners[row];
    double &score = winners.scores[row], &second = winners.seconds[row];
    if (components.all()) {
        owner = member;
        score = best;
        second = next;
        return;
    }
    if (winners.is_member[owner]) {  // its score is among s
        if (!(best > second)) {
            winners.open[row] = 1;
            return;
        }
        second = std::max(second, next);
    } else if (best > score || (best == score && member < owner)) {
        second = std::max({second, score, next});
    } else {
        second = std::max(second, best);
        return;
    }
    owner = member;
    score = best;
}

template <class T, class P, class I>
static void columns_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<ColumnSweep<T, P, I>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    const std::int64_t begin = task * chunk_rows, end = std::min(sweep.rows.n, begin + chunk_rows);
    if (!in_columns(sweep.rows, begin, end, sweep.components->n_features)) {
        sweep.pulse->invalidate();
        return;
    }
    for (std::int64_t row = begin; row < end; ++row) {
        score_by_columns(sweep, own, row);
        if (sweep.map)
            map_row(*sweep.scorers, row, static_cast<std::uint64_t>(sweep.rows.first + row),
                    own.s.get(), own.e.get(), *sweep.map);
        else
            find_winner(*sweep.components, *sweep.winners, sweep.rows.row(row), own.s.get());
    }
}

template <class T, class P, class I>
static bool run_by_columns(ColumnSweep<T, P, I>& sweep, int n_threads) {
    build_index(*sweep.components, sweep.index);
    sweep.scratch =
        std::vector<typename ColumnSweep<T, P, I>::Scratch>(static_cast<std::size_t>(n_threads));
    for (auto& own : sweep.scratch) {
        own.products.resize(sweep.index.stride);
        own.s.resize(sweep.index.stride);
        own.e.resize(sweep.index.stride);
    }
    Pool::instance().run((sweep.rows.n + chunk_rows - 1) / chunk_rows, n_threads,
                         columns_task<T, P, I>, &sweep);
    return !sweep.pulse->stopped();
}

// INOUT winners of the rows. Products are of type P. Returns false when interrupted.
template <class P, class T, class I>
static bool sweep_by_columns(const SparseRows<T, I>& rows, const SparseComponents& components,
                             const Winners& winners, int n_threads, Pulse& pulse) {
    ColumnSweep<T, P, I> sweep;
    sweep.rows = rows;
    sweep.components = &components;
    sweep.winners = &winners;
    sweep.pulse = &pulse;
    return run_by_columns(sweep, n_threads);
}

// OUT map. The components are all those of one scorer. Returns false when interrupted.
template <class P, class T, class I>
static bool map_by_columns(const SparseRows<T, I>& rows, const SparseComponents& components,
                           const Scorers& scorers, const RowMap& map, int n_threads, Pulse& pulse) {
    ColumnSweep<T, P, I> sweep;
    sweep.rows = rows;
    sweep.components = &components;
    sweep.scorers = &scorers;
    sweep.map = &map;
    sweep.pulse = &pulse;
    return run_by_columns(sweep, n_threads);
}

template <class T, class I>
struct OwnerSums {
    struct Scratch {
        Buffer<double> sum;            // (n_features,): zeros between tasks
        Buffer<std::uint64_t> used;    // a bit for each column: zeros between tasks
    };
    SparseRows<T, I> rows;
    const RowsOfOwners* owned;
    std::int64_t* counts = nullptr;    // OUT, or
    SparseSums sums;                   // OUT
    std::vector<Scratch> scratch;
    Pulse* pulse;
};

// One component: which columns its rows have, and unless these are only counted, their sums.
template <class T, class I>
static void owner_task(void* context, std::int64_t k, int thread) {
    auto& job = *static_cast<OwnerSums<T, I>*>(context);
    if (job.pulse->stop(thread)) return;
    auto& own = job.scratch[static_cast<std::size_t>(thread)];
    const RowsOfOwners& owned = *job.owned;
    const auto& rows = job.rows;
    double mass = 0.0;
    for (std::int64_t i = owned.starts[k]; i < owned.starts[k + 1]; ++i) {
        const std::int64_t row = owned.order[i], from = rows.begin(row), to = rows.end(row);
        if (!in_columns(rows, row, row + 1, owned.n_features)) {
            job.pulse->invalidate();
            return;
        }
        for (std::int64_t p = from; p < to; ++p)
            own.used[rows.indices[p] / 64] |= std::uint64_t{1} << (rows.indices[p] % 64);
        if (job.counts) continue;
        const double weight = owned.weights ? owned.weights[row] : 1.0;
        mass += weight;
        scatter_row(rows.indices + from, rows.data + from, to - from, weight * rows.scale[row],
                    own.sum.get());
    }
    std::int64_t at = job.counts ? 0 : job.sums.indptr[k];
    for (std::int64_t word = 0; word < (owned.n_features + 63) / 64; ++word) {
        for (std::uint64_t bits = own.used[word]; bits; bits &= bits - 1, ++at) {
            if (job.counts) continue;
            const auto low = static_cast<unsigned>(bits);
            const std::int64_t j =
                64 * word + (low ? lowest_bit(low) : 32 + lowest_bit(static_cast<unsigned>(bits >> 32)));
            job.sums.indices[at] = static_cast<std::int32_t>(j);
            job.sums.values[at] = own.sum[j];
            own.sum[j] = 0.0;
        }
        own.used[word] = 0;
    }
    if (job.counts)
        job.counts[k] = at;
    else
        job.sums.mass[k] = mass;
}

// OUT counts (n_components,): the columns that the rows of each owner have; or, where counts is null,
// sums. Returns false when interrupted.
template <class T, class I>
static bool sum_by_owner(const SparseRows<T, I>& rows, const RowsOfOwners& owned,
                         std::int64_t* counts, const SparseSums& sums, int n_threads,
                         Pulse& pulse) {
    OwnerSums<T, I> job;
    job.rows = rows;
    job.owned = &owned;
    job.counts = counts;
    job.sums = sums;
    job.pulse = &pulse;
    const std::int64_t n_words = (owned.n_features + 63) / 64;
    job.scratch =
        std::vector<typename OwnerSums<T, I>::Scratch>(static_cast<std::size_t>(n_threads));
    for (auto& own : job.scratch) {
        own.used.resize(n_words);
        std::fill_n(own.used.get(), n_words, 0);
        if (counts) continue;
        own.sum.resize(owned.n_features);
        std::fill_n(own.sum.get(), owned.n_features, 0.0);
    }
    Pool::instance().run(static_cast<std::int64_t>(owned.starts.size()) - 1, n_threads,
                         owner_task<T, I>, &job);
    return !pulse.stopped();
}
