// The sweep over dense rows: both products of a block of rows while it is in cache. Blocks lie on a
// fixed grid of row numbers and are added to a few lanes in turn, so that the bits do not depend on
// threads, nor on how the rows are handed in as long as each call begins on the grid.
// Rows of type T are multiplied and summed in type P: where P is wider, a block is copied first.
// Included once per instruction set, inside its namespace.

template <class T>
struct DenseScratch {
    Buffer<T> products;                 // (block, padded components)
    Buffer<T> factors;                  // (block, padded components)
    Buffer<T> packed;                   // the block, when it cannot be read in place
    Buffer<T> tail;
    Buffer<double> s, e, value, totals;
    Buffer<std::int32_t> component;
    Buffer<Pair<T>> pairs, sorted;
    Buffer<std::int32_t> pair_component, starts;
    bool spread = false;                // the block before was soft
};

template <class T, class P>
struct DenseSweep {
    DenseRows<T> rows;
    const Scorers* scorers;
    Sums lanes;                         // each with a leading axis of lanes
    const RowMap* map = nullptr;
    Pulse* pulse;
    Panels<P, panel_vectors> panels;
    std::vector<DenseScratch<P>> scratch;
    std::int64_t n_lanes = 0;
    std::int64_t first_block = 0, last_block = 0;   // of the round, as global numbers

    bool in_place() const {
        return std::is_same<T, P>::value && rows.column_stride == 1 && !rows.list;
    }
};

template <class T, class P>
static void prepare(DenseSweep<T, P>& sweep, int n_threads) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const std::int64_t n = sweep.scorers->n_components, padded = sweep.panels.stride();
    const std::int64_t d = sweep.scorers->n_features;
    sweep.scratch = std::vector<DenseScratch<P>>(static_cast<std::size_t>(n_threads));
    for (auto& own : sweep.scratch) {
        own.products.resize(dense_block * padded);
        std::fill_n(own.products.get(), dense_block * padded, P(0));
        own.s.resize(padded);
        own.e.resize(padded);
        if (!sweep.in_place()) own.packed.resize(dense_block * d);
        if (sweep.map) continue;
        own.factors.resize(dense_block * padded);
        own.tail.resize(dense_block * width);
        own.value.resize(padded + 16);
        own.component.resize(padded + 16);
        own.totals.resize(2 * sweep.scorers->n_groups);
        own.pairs.resize(dense_block * n);
        own.sorted.resize(dense_block * n);
        own.pair_component.resize(dense_block * n);
        own.starts.resize(n + 1);
    }
}

// OUT to: (n, d), C order, from rows of any strides, listed ones among them.
template <class T, class P>
static void copy_block(const DenseRows<T>& rows, std::int64_t begin, std::int64_t n, std::int64_t d,
                       P* to) {
    if (rows.list || rows.column_stride == 1) {
        for (std::int64_t i = 0; i < n; ++i) {
            const T* from = rows.data + rows.row(begin + i) * rows.row_stride;
            P* at = to + i * d;
            if (rows.column_stride == 1) {
                std::copy_n(from, d, at);
                continue;
            }
            for (std::int64_t j = 0; j < d; ++j)
                at[j] = static_cast<P>(from[j * rows.column_stride]);
        }
        return;
    }
    const T* from = rows.data + begin * rows.row_stride;
    // Columns outside when they are the contiguous direction.
    const bool by_column = std::abs(rows.row_stride) < std::abs(rows.column_stride);
    const std::int64_t outer = by_column ? d : n, inner = by_column ? n : d;
    const std::int64_t from_outer = by_column ? rows.column_stride : rows.row_stride;
    const std::int64_t from_inner = by_column ? rows.row_stride : rows.column_stride;
    const std::int64_t to_outer = by_column ? 1 : d, to_inner = by_column ? d : 1;
    for (std::int64_t i = 0; i < outer; ++i)
        for (std::int64_t j = 0; j < inner; ++j)
            to[i * to_outer + j * to_inner] = static_cast<P>(from[i * from_outer + j * from_inner]);
}

// Rows begin .. end-1 as the kernels want them.
template <class T, class P>
static Block<P> open_block(const DenseSweep<T, P>& sweep, DenseScratch<P>& own, std::int64_t begin,
                           std::int64_t end) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const auto& rows = sweep.rows;
    const std::int64_t d = sweep.scorers->n_features;
    Block<P> block{own.packed.get(), d, end - begin, d, own.tail.get()};
    if constexpr (std::is_same<T, P>::value) {
        if (sweep.in_place()) {
            block.rows = rows.data + begin * rows.row_stride;
            block.stride = rows.row_stride;
        }
    }
    if (!sweep.in_place()) copy_block(rows, begin, block.n, d, own.packed.get());
    const std::int64_t whole = d / width * width;
    if (whole < d && !sweep.map)
        for (std::int64_t i = 0; i < block.n; ++i) {
            P* to = own.tail.get() + i * width;
            std::fill_n(to, width, P(0));
            std::copy_n(block.rows + i * block.stride + whole, d - whole, to);
        }
    return block;
}

// The second product over the pairs in play only, component by component.
template <class T>
static void sum_by_pairs(const Block<T>& block, DenseScratch<T>& own, std::int64_t n_pairs,
                         std::int64_t n, double* vectors) {
    std::int32_t* starts = own.starts.get();
    std::fill_n(starts, n + 1, 0);
    for (std::int64_t i = 0; i < n_pairs; ++i) ++starts[own.pair_component[i] + 1];
    for (std::int64_t k = 0; k < n; ++k) starts[k + 1] += starts[k];
    for (std::int64_t i = 0; i < n_pairs; ++i)
        own.sorted[starts[own.pair_component[i]]++] = own.pairs[i];
    for (std::int64_t k = 0, begin = 0; k < n; begin = starts[k++])
        if (starts[k] > begin)
            sum_pairs(block, own.sorted.get() + begin, starts[k] - begin, vectors + k * block.d);
}

// From the shares of one row to its factors, all components at once. Returns how many there are.
// IN shares: (padded components,). OUT factors. INOUT mass.
template <class T>
static std::int64_t spread_row(const double* shares, double scale, std::int64_t n, double* mass,
                               T* factors) {
    using V = Doubles;
    const V::Reg by = V::set1(scale);
    std::int64_t count = 0;
    std::int64_t k = 0;
    for (; k + V::width <= n; k += V::width) {
        const V::Reg share = V::load(shares + k);
        V::store(mass + k, V::load(mass + k) + share);
        V::store(factors + k, share * by);
        for (unsigned mask = V::nonzero(share); mask; mask &= mask - 1) ++count;
    }
    for (; k < n; ++k) {
        mass[k] += shares[k];
        factors[k] = static_cast<T>(shares[k] * scale);
        count += shares[k] != 0.0;
    }
    return count;
}

// The first product of a block, and what its rows are assigned to: as a list of pairs, or where the
// block before was soft as a matrix of factors. Both hold the same numbers. Returns their count.
template <class T, class P>
static std::int64_t assign_block(const DenseSweep<T, P>& sweep, DenseScratch<P>& own,
                                 const Block<P>& block, std::int64_t begin, std::int64_t lane) {
    const Scorers& scorers = *sweep.scorers;
    const std::int64_t n = scorers.n_components, stride = sweep.panels.stride();
    multiply_block(block, sweep.panels, own.products.get());
    double* mass = sweep.lanes.mass + lane * n;
    double* totals = sweep.lanes.totals + lane * 2 * scorers.n_groups;
    Shares shares{own.component.get(), own.value.get(), 0, own.spread ? own.value.get() : nullptr};
    std::int64_t n_pairs = 0;
    for (std::int64_t i = 0; i < block.n; ++i) {
        const std::int64_t row = sweep.rows.row(begin + i);
        const double scale = sweep.rows.scale[row];
        affine(own.products.get() + i * stride, scale, sweep.panels.biases.get(), n, own.s.get());
        if (own.spread) std::fill_n(own.value.get(), n, 0.0);
        assign_row(scorers, row, static_cast<std::uint64_t>(sweep.rows.first + row), own.s.get(),
                   own.e.get(), shares, own.totals.get());
        for (std::int64_t g = 0; g < 2 * scorers.n_groups; ++g) totals[g] += own.totals[g];
        if (own.spread) {
            n_pairs += spread_row(own.value.get(), scale, n, mass, own.factors.get() + i * stride);
            continue;
        }
        for (std::int64_t p = 0; p < shares.size; ++p, ++n_pairs) {
            mass[shares.component[p]] += shares.value[p];
            own.pairs[n_pairs] = {static_cast<std::int32_t>(i),
                                  static_cast<P>(shares.value[p] * scale)};
            own.pair_component[n_pairs] = shares.component[p];
        }
    }
    return n_pairs;
}

template <class T, class P>
static void sweep_block(const DenseSweep<T, P>& sweep, DenseScratch<P>& own, std::int64_t begin,
                        std::int64_t end, std::int64_t lane) {
    const std::int64_t n = sweep.scorers->n_components, stride = sweep.panels.stride();
    const Block<P> block = open_block(sweep, own, begin, end);
    std::int64_t n_pairs = assign_block(sweep, own, block, begin, lane);
    double* vectors = sweep.lanes.vectors + lane * n * block.d;
    // Which product is taken depends on this block alone, as the order of its sums does.
    const bool few = 3 * n_pairs < block.n * n;
    P* factors = own.factors.get();
    if (few && own.spread) {
        n_pairs = 0;
        for (std::int64_t i = 0; i < block.n; ++i)
            for (std::int64_t k = 0; k < n; ++k)
                if (factors[i * stride + k] != P(0)) {
                    own.pairs[n_pairs] = {static_cast<std::int32_t>(i), factors[i * stride + k]};
                    own.pair_component[n_pairs++] = static_cast<std::int32_t>(k);
                }
    } else if (!few && !own.spread) {
        std::fill_n(factors, block.n * stride, P(0));
        for (std::int64_t i = 0; i < n_pairs; ++i)
            factors[own.pairs[i].row * stride + own.pair_component[i]] = own.pairs[i].factor;
    }
    own.spread = !few;
    if (few)
        sum_by_pairs(block, own, n_pairs, n, vectors);
    else
        sum_block(block, factors, stride, n, vectors);
}

template <class T, class P>
static void lane_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<DenseSweep<T, P>*>(context);
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    for (std::int64_t b = sweep.first_block + task; b < sweep.last_block; b += sweep.n_lanes) {
        if (sweep.pulse->stop(thread)) return;
        const std::int64_t begin = std::max<std::int64_t>(0, b * dense_block - sweep.rows.first);
        const std::int64_t end = std::min(sweep.rows.n, (b + 1) * dense_block - sweep.rows.first);
        sweep_block(sweep, own, begin, end, b % sweep.n_lanes);
    }
}

// Small problems are done before a second thread has woken up.
template <class T>
static int useful_threads(const DenseRows<T>& rows, const Scorers& scorers, int n_threads) {
    const double work = static_cast<double>(rows.n) * static_cast<double>(scorers.n_components) *
                        static_cast<double>(scorers.n_features);
    return work < 2e6 ? 1 : n_threads;
}

// INOUT lanes: vectors (lanes, n_components, n_features), mass (lanes, n_components), totals
// (lanes, n_groups, 2). Block b belongs to lane b mod n_lanes. Products and the sums of a block are
// of type P. Returns false when interrupted.
template <class P, class T>
static bool dense_sweep(const DenseRows<T>& rows, const Scorers& scorers, const Sums& lanes,
                        std::int64_t n_lanes, int n_threads, Pulse& pulse) {
    if (rows.n == 0) return true;
    n_threads = useful_threads(rows, scorers, n_threads);
    DenseSweep<T, P> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.lanes = lanes;
    sweep.pulse = &pulse;
    sweep.n_lanes = n_lanes;
    pack(scorers, sweep.panels, false, n_threads);
    prepare(sweep, n_threads);
    const std::int64_t first = rows.first / dense_block;
    const std::int64_t last = (rows.first + rows.n - 1) / dense_block + 1;
    const std::int64_t round = 8 * n_lanes;   // blocks between two barriers
    for (std::int64_t b = first; b < last && !pulse.stopped(); b += round) {
        sweep.first_block = b;
        sweep.last_block = std::min(last, b + round);
        const std::int64_t n_tasks = std::min(n_lanes, sweep.last_block - b);
        Pool::instance().run(n_tasks, n_threads, lane_task<T, P>, &sweep);
    }
    return !pulse.stopped();
}

template <class T, class P>
static void dense_map_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<DenseSweep<T, P>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    const std::int64_t begin = task * dense_block;
    const std::int64_t end = std::min(sweep.rows.n, begin + dense_block);
    const Block<P> block = open_block(sweep, own, begin, end);
    multiply_block(block, sweep.panels, own.products.get());
    for (std::int64_t row = begin; row < end; ++row) {
        affine(own.products.get() + (row - begin) * sweep.panels.stride(), sweep.rows.scale[row],
               sweep.panels.biases.get(), sweep.scorers->n_components, own.s.get());
        map_row(*sweep.scorers, row, static_cast<std::uint64_t>(sweep.rows.first + row),
                own.s.get(), own.e.get(), *sweep.map);
    }
}

// OUT map. Products are of type P. Returns false when interrupted.
template <class P, class T>
static bool dense_map(const DenseRows<T>& rows, const Scorers& scorers, const RowMap& map,
                      int n_threads, Pulse& pulse) {
    n_threads = useful_threads(rows, scorers, n_threads);
    DenseSweep<T, P> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.map = &map;
    sweep.pulse = &pulse;
    pack(scorers, sweep.panels, false, n_threads);
    prepare(sweep, n_threads);
    Pool::instance().run((rows.n + dense_block - 1) / dense_block, n_threads, dense_map_task<T, P>,
                         &sweep);
    return !pulse.stopped();
}
