// The two phases of a tile of sparse rows. First the rows' scores and posteriors, row by row; then
// the sums, each element owned by one task and fed in row order. So the bits depend neither on
// threads nor on tiles, nor on which of the two layouts of the sums is used: the vectors as Python
// has them, one task a component, or panels of components, one task a panel.
// Included once per instruction set, inside its namespace.

static constexpr std::int64_t chunk_rows = 64;          // rows a scoring task
static constexpr std::int64_t compact_limit = 1 << 16;  // non-zeros compacted at a time

struct Entry {
    double value;        // posterior times weight
    std::int32_t row;    // in the tile
};

// What the first phase leaves for the second.
struct Tile {
    std::int64_t begin = 0, end = 0;       // rows
    Buffer<Entry> entries;                 // by chunk, sorted by component
    Buffer<std::int32_t> starts;           // (chunks, n_components + 1)
    Buffer<double> factors;                // (rows, padded components), for the panels of sums
    Buffer<double> totals;                 // (rows, n_groups, 2)
    std::int64_t n_chunks() const { return (end - begin + chunk_rows - 1) / chunk_rows; }
};

// What a thread needs for itself. Entries of rows are of type T, products of type P.
template <class T, class P, class I>
struct Scratch {
    Buffer<P> products;
    Buffer<double> s, e, value;
    Buffer<std::int32_t> component;
    Buffer<Entry> entries;             // of a chunk, in row order
    Buffer<std::int32_t> entry_component;
    Buffer<Entry> listed;              // of a component in a tile
    Buffer<T> data;                    // rows without the columns that are left out
    Buffer<I> indices;
    Buffer<I> indptr;
};

template <class T, class P, class I>
struct SparseSweep {
    SparseRows<T, I> rows;
    const Scorers* scorers;
    Sums sums;
    const RowMap* map = nullptr;
    Pulse* pulse;
    Panels<P, 4> panels;
    std::vector<Scratch<T, P, I>> scratch;
    bool by_panel = false;             // layout of the sums
    SumPanels sum_panels;
    std::int64_t factor_stride = 0;
    Tile tiles[2];
    Tile* scoring = nullptr;           // tile whose rows are being scored
    Tile* summing = nullptr;           // tile whose sums are being taken: the one before
    std::int64_t n_summing = 0;        // tasks of the second phase, which come first
};

template <class T, class P, class I>
static void prepare(SparseSweep<T, P, I>& sweep, int n_threads) {
    const std::int64_t n = sweep.scorers->n_components, padded = sweep.panels.stride();
    std::int64_t longest = 0;
    if (sweep.panels.compact)
        for (std::int64_t i = 0; i < sweep.rows.n; ++i)
            longest = std::max(longest, sweep.rows.end(i) - sweep.rows.begin(i));
    sweep.scratch = std::vector<Scratch<T, P, I>>(static_cast<std::size_t>(n_threads));
    for (auto& own : sweep.scratch) {
        own.products.resize(chunk_rows * padded);
        std::fill_n(own.products.get(), chunk_rows * padded, P(0));
        own.s.resize(padded);
        own.e.resize(padded);
        own.value.resize(padded + 16);
        own.component.resize(padded + 16);
        if (!sweep.map) {
            own.entries.resize(chunk_rows * n);
            own.entry_component.resize(chunk_rows * n);
        }
        if (sweep.panels.compact) {
            own.data.resize(compact_limit + longest);
            own.indices.resize(compact_limit + longest + 16);
            own.indptr.resize(chunk_rows + 1);
        }
    }
}

// Whether all indices of rows begin .. end-1 are columns. They were when the rows were opened, but
// the user may have changed them since. It costs little: they are about to be read anyway.
template <class T, class I>
static bool in_columns(const SparseRows<T, I>& rows, std::int64_t begin, std::int64_t end,
                       std::int64_t n_features) {
    using U = typename std::make_unsigned<I>::type;
    const U bound = static_cast<U>(n_features);
    U outside = 0;
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t p = rows.begin(row); p < rows.end(row); ++p)
            outside |= static_cast<U>(static_cast<U>(rows.indices[p]) >= bound);
    return outside == 0;
}

// The products of rows begin .. end-1 (a chunk at most) with all components, into own.products.
template <class T, class P, class I>
static void multiply_rows(const SparseSweep<T, P, I>& sweep, Scratch<T, P, I>& own,
                          std::int64_t begin, std::int64_t end) {
    const auto& rows = sweep.rows;
    const Panels<P, 4>& panels = sweep.panels;
    if (!in_columns(rows, begin, end, sweep.scorers->n_features)) {
        sweep.pulse->invalidate();
        return;
    }
    if (!panels.compact) {
        const RowList<T, I> list{rows.indptr, rows.indices, rows.data, begin, end,
                                 rows.stored, rows.list};
        multiply_all(list, panels, own.products.get());
        return;
    }
    for (std::int64_t row = begin; row < end;) {
        const std::int64_t from = row;
        std::int64_t size = 0;
        own.indptr[0] = 0;
        while (row < end && size < compact_limit) {
            for (std::int64_t p = rows.begin(row); p < rows.end(row); ++p) {
                const std::int32_t place = panels.column[rows.indices[p]];
                own.indices[size] = static_cast<I>(place);
                own.data[size] = rows.data[p];
                size += place >= 0;
            }
            ++row;
            own.indptr[row - from] = static_cast<I>(size);
        }
        const RowList<T, I> list{own.indptr.get(), own.indices.get(), own.data.get(), 0, row - from,
                                 size, nullptr};
        multiply_all(list, panels, own.products.get() + (from - begin) * panels.stride());
    }
}

// First phase for one chunk of the tile.
template <class T, class P, class I>
static void score_chunk(SparseSweep<T, P, I>& sweep, Scratch<T, P, I>& own, Tile& tile,
                        std::int64_t chunk) {
    const Scorers& scorers = *sweep.scorers;
    const std::int64_t n = scorers.n_components, stride = sweep.panels.stride();
    const std::int64_t begin = tile.begin + chunk * chunk_rows;
    const std::int64_t end = std::min(tile.end, begin + chunk_rows);
    multiply_rows(sweep, own, begin, end);
    std::int32_t* starts = tile.starts.get() + chunk * (n + 1);
    if (!sweep.by_panel) std::fill_n(starts, n + 1, 0);
    std::int64_t size = 0;
    Shares shares{own.component.get(), own.value.get(), 0, nullptr};
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row - tile.begin;
        if (sweep.by_panel) {
            shares.dense = tile.factors.get() + at * sweep.factor_stride;
            std::fill_n(shares.dense, sweep.factor_stride, 0.0);
        }
        const std::int64_t id = sweep.rows.row(row);
        affine(own.products.get() + (row - begin) * stride, sweep.rows.scale[id],
               sweep.panels.biases.get(), n, own.s.get());
        assign_row(scorers, id, static_cast<std::uint64_t>(sweep.rows.first + id), own.s.get(),
                   own.e.get(), shares, tile.totals.get() + at * scorers.n_groups * 2);
        for (std::int64_t i = 0; i < shares.size; ++i, ++size) {
            own.entries[size] = {shares.value[i], static_cast<std::int32_t>(at)};
            own.entry_component[size] = shares.component[i];
            ++starts[shares.component[i] + 1];
        }
    }
    if (sweep.by_panel) return;
    // Counting sort: starts[k] ends as the end of component k's entries, then moves back to begin.
    for (std::int64_t k = 0; k < n; ++k) starts[k + 1] += starts[k];
    Entry* sorted = tile.entries.get() + chunk * chunk_rows * n;
    for (std::int64_t i = 0; i < size; ++i)
        sorted[starts[own.entry_component[i]]++] = own.entries[i];
    for (std::int64_t k = n; k > 0; --k) starts[k] = starts[k - 1];
    starts[0] = 0;
}

// Second phase for one component. Its rows lie far apart: they are called for in advance.
template <class T, class P, class I>
static void sum_component(const SparseSweep<T, P, I>& sweep, Scratch<T, P, I>& own,
                          const Tile& tile, std::int64_t k) {
    const std::int64_t n = sweep.scorers->n_components;
    Entry* entries = own.listed.get();
    std::int64_t size = 0;
    for (std::int64_t chunk = 0; chunk < tile.n_chunks(); ++chunk) {
        const std::int32_t* starts = tile.starts.get() + chunk * (n + 1);
        const Entry* from = tile.entries.get() + chunk * chunk_rows * n;
        for (std::int32_t i = starts[k]; i < starts[k + 1]; ++i) entries[size++] = from[i];
    }
    const auto& rows = sweep.rows;
    const I* indices = sweep.rows.indices;
    const T* data = sweep.rows.data;
    double* vector = sweep.sums.vectors + k * sweep.scorers->n_features;
    double mass = sweep.sums.mass[k];
    constexpr std::int64_t far = 4;
    for (std::int64_t i = 0; i < size; ++i) {
        if (i + far < size) {
            const std::int64_t from = rows.begin(tile.begin + entries[i + far].row);
            const std::int64_t to = rows.end(tile.begin + entries[i + far].row);
            for (std::int64_t p = from; p < to; p += 64 / sizeof(I)) prefetch(indices + p);
            for (std::int64_t p = from; p < to; p += 64 / sizeof(T)) prefetch(data + p);
        }
        const std::int64_t row = tile.begin + entries[i].row, from = rows.begin(row);
        mass += entries[i].value;
        scatter_row(indices + from, data + from, rows.end(row) - from,
                    entries[i].value * rows.scale[rows.row(row)], vector);
    }
    sweep.sums.mass[k] = mass;
}

// Second phase for one panel of N vectors of components.
template <int N, class T, class P, class I>
static void sum_panel(const SparseSweep<T, P, I>& sweep, const Tile& tile, std::int64_t panel) {
    using V = Doubles;
    const std::int64_t k = panel * sweep.sum_panels.widest;
    const auto& rows = sweep.rows;
    double* sums = sweep.sum_panels.base(panel);
    for (std::int64_t row = tile.begin; row < tile.end; ++row) {
        const double* factors = tile.factors.get() + (row - tile.begin) * sweep.factor_stride + k;
        const V::Reg scale = V::set1(rows.scale[rows.row(row)]);
        V::Reg scaled[N];
        unsigned any = 0;
        for (int v = 0; v < N; ++v) {
            const V::Reg f = V::load(factors + v * V::width);
            scaled[v] = f * scale;
            any |= V::nonzero(f);
        }
        if (!any) continue;
        const std::int64_t from = rows.begin(row);
        scatter_row_tile<N>(rows.indices + from, rows.data + from, rows.end(row) - from,
                            rows.stored - from, scaled, sums);
    }
}

template <class T, class P, class I>
static void sum_panel_task(const SparseSweep<T, P, I>& sweep, const Tile& tile,
                           std::int64_t panel) {
    switch (sweep.sum_panels.width(panel) / Doubles::width) {
        case 1: return sum_panel<1>(sweep, tile, panel);
        case 2: return sum_panel<2>(sweep, tile, panel);
        case 3: return sum_panel<3>(sweep, tile, panel);
        default: return sum_panel<4>(sweep, tile, panel);
    }
}

// Masses where they are not summed with the vectors.
template <class T, class P, class I>
static void sum_masses(const SparseSweep<T, P, I>& sweep, const Tile& tile) {
    const double* factors = tile.factors.get();
    for (std::int64_t i = tile.begin; i < tile.end; ++i, factors += sweep.factor_stride)
        for (std::int64_t k = 0; k < sweep.scorers->n_components; ++k)
            sweep.sums.mass[k] += factors[k];
}

static void sum_totals(const Tile& tile, std::int64_t n_groups, double* totals) {
    const double* row = tile.totals.get();
    for (std::int64_t i = tile.begin; i < tile.end; ++i, row += 2 * n_groups)
        for (std::int64_t g = 0; g < 2 * n_groups; ++g) totals[g] += row[g];
}
