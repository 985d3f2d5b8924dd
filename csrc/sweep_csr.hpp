// The sweep over sparse rows, tile by tile, and what is said row by row.
// Included once per instruction set, inside its namespace.

static constexpr std::int64_t tile_posteriors = 1 << 20;

// One step: the sums of the tile before, and the scores of this one, which fill the idle threads.
template <class T, class P, class I>
static void step_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<SparseSweep<T, P, I>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    if (task >= sweep.n_summing) {
        score_chunk(sweep, own, *sweep.scoring, task - sweep.n_summing);
        return;
    }
    if (task == sweep.n_summing - 1) {
        sum_totals(*sweep.summing, sweep.scorers->n_groups, sweep.sums.totals);
        if (sweep.by_panel) sum_masses(sweep, *sweep.summing);
    } else if (sweep.by_panel) {
        sum_panel_task(sweep, *sweep.summing, task);
    } else {
        sum_component(sweep, own, *sweep.summing, task);
    }
}

// Components in play a row, from a few rows spread over all of them.
template <class T, class P, class I>
static double probe(SparseSweep<T, P, I>& sweep) {
    Scorers scorers = *sweep.scorers;
    scorers.margins = nullptr;  // nothing is left behind
    auto& own = sweep.scratch[0];
    const std::int64_t n_probes = std::min<std::int64_t>(32, (sweep.rows.n + 63) / 64);
    std::int64_t active = 0, counted = 0;
    Shares shares{own.component.get(), own.value.get(), 0, nullptr};
    Buffer<double> totals(2 * scorers.n_groups);
    for (std::int64_t i = 0; i < n_probes; ++i) {
        const std::int64_t row = i * (sweep.rows.n / n_probes);
        const std::int64_t id = sweep.rows.row(row);
        if (!scorers.any_weight(id)) continue;
        multiply_rows(sweep, own, row, row + 1);
        affine(own.products.get(), sweep.rows.scale[id], sweep.panels.biases.get(),
               scorers.n_components, own.s.get());
        assign_row(scorers, id, static_cast<std::uint64_t>(sweep.rows.first + id), own.s.get(),
                   own.e.get(), shares, totals.get());
        active += shares.size;
        ++counted;
    }
    return counted ? static_cast<double>(active) / static_cast<double>(counted) : 0.0;
}

// Small problems are done before a second thread has woken up.
template <class T, class I>
static int useful_threads(const SparseRows<T, I>& rows, const Scorers& scorers, int n_threads) {
    const double nnz = static_cast<double>(rows.count());
    return nnz * static_cast<double>(scorers.n_components) < 4e5 ? 1 : n_threads;
}

// Which layout of the sums is cheaper. A vector update costs about as much as a scalar one, but
// panels must be filled and emptied.
template <class T, class P, class I>
static void choose_layout(SparseSweep<T, P, I>& sweep, int n_threads) {
    const Scorers& scorers = *sweep.scorers;
    const std::int64_t n = scorers.n_components, d = scorers.n_features;
    bool any_soft = false;
    for (std::int64_t g = 0; g < scorers.n_groups; ++g) any_soft |= scorers.assignments[g] == soft;
    if (!any_soft) return;
    const double nnz = static_cast<double>(sweep.rows.count());
    const double vectors = static_cast<double>((n + Doubles::width - 1) / Doubles::width);
    const double moves = 2.0 * static_cast<double>(n * d);
    sweep.by_panel = nnz * probe(sweep) > nnz * (0.5 + vectors) + moves;
    if (!sweep.by_panel) return;
    SumPanels& panels = sweep.sum_panels;
    panels.n_components = n;
    panels.n_features = d;
    panels.vectors = sweep.sums.vectors;
    // Wide panels read the rows less often; narrow ones keep more threads busy.
    panels.widest = (n_threads <= 2 ? 4 : n_threads <= 4 ? 2 : 1) * Doubles::width;
    sweep.factor_stride = (n + Doubles::width - 1) / Doubles::width * Doubles::width;
    transpose(panels, false, n_threads);
}

// Make room for two tiles at most. Returns the rows of a tile: enough for all threads, few enough
// for the posteriors to stay small.
template <class T, class P, class I>
static std::int64_t make_tiles(SparseSweep<T, P, I>& sweep, int n_threads) {
    const std::int64_t n = sweep.scorers->n_components;
    const std::int64_t most = std::max<std::int64_t>(1, tile_posteriors / n / chunk_rows);
    const std::int64_t needed = (sweep.rows.n + chunk_rows - 1) / chunk_rows;
    const std::int64_t chunks = std::min({std::max<std::int64_t>(16, 8 * n_threads), most, needed});
    const std::int64_t rows = chunks * chunk_rows;
    for (int t = 0; t < (rows < sweep.rows.n ? 2 : 1); ++t) {
        Tile& tile = sweep.tiles[t];
        tile.totals.resize(rows * sweep.scorers->n_groups * 2);
        if (sweep.by_panel) {
            tile.factors.resize(rows * sweep.factor_stride);
        } else {
            tile.entries.resize(rows * n);
            tile.starts.resize(chunks * (n + 1));
        }
    }
    if (!sweep.by_panel)
        for (auto& own : sweep.scratch) own.listed.resize(rows);
    return rows;
}

// INOUT sums. Products of rows and scorers are of type P. Returns false when interrupted.
template <class P, class T, class I>
static bool sparse_sweep(const SparseRows<T, I>& rows, const Scorers& scorers, const Sums& sums,
                         int n_threads, Pulse& pulse) {
    if (rows.n == 0) return true;
    n_threads = useful_threads(rows, scorers, n_threads);
    SparseSweep<T, P, I> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.sums = sums;
    sweep.pulse = &pulse;
    pack(scorers, sweep.panels, true, n_threads);
    prepare(sweep, n_threads);
    choose_layout(sweep, n_threads);
    const std::int64_t tile_rows = make_tiles(sweep, n_threads);
    const std::int64_t n_tiles = (rows.n + tile_rows - 1) / tile_rows;
    const std::int64_t n_owners =
        sweep.by_panel ? sweep.sum_panels.count() : scorers.n_components;
    for (std::int64_t t = 0; t <= n_tiles && !pulse.stopped(); ++t) {
        sweep.summing = &sweep.tiles[(t + 1) % 2];
        sweep.scoring = &sweep.tiles[t % 2];
        sweep.n_summing = t > 0 ? n_owners + 1 : 0;
        std::int64_t n_tasks = sweep.n_summing;
        if (t < n_tiles) {
            sweep.scoring->begin = t * tile_rows;
            sweep.scoring->end = std::min(rows.n, (t + 1) * tile_rows);
            n_tasks += sweep.scoring->n_chunks();
        }
        Pool::instance().run(n_tasks, n_threads, step_task<T, P, I>, &sweep);
    }
    if (sweep.by_panel && !pulse.stopped()) transpose(sweep.sum_panels, true, n_threads);
    return !pulse.stopped();
}

template <class T, class P, class I>
static void map_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<SparseSweep<T, P, I>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    const std::int64_t begin = task * chunk_rows, end = std::min(sweep.rows.n, begin + chunk_rows);
    multiply_rows(sweep, own, begin, end);
    for (std::int64_t row = begin; row < end; ++row) {
        affine(own.products.get() + (row - begin) * sweep.panels.stride(), sweep.rows.scale[row],
               sweep.panels.biases.get(), sweep.scorers->n_components, own.s.get());
        map_row(*sweep.scorers, row, static_cast<std::uint64_t>(sweep.rows.first + row),
                own.s.get(), own.e.get(), *sweep.map);
    }
}

// OUT map. Products are of type P. Returns false when interrupted.
template <class P, class T, class I>
static bool sparse_map(const SparseRows<T, I>& rows, const Scorers& scorers, const RowMap& map,
                       int n_threads, Pulse& pulse) {
    n_threads = useful_threads(rows, scorers, n_threads);
    SparseSweep<T, P, I> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.map = &map;
    sweep.pulse = &pulse;
    pack(scorers, sweep.panels, true, n_threads);
    prepare(sweep, n_threads);
    const std::int64_t n_chunks = (rows.n + chunk_rows - 1) / chunk_rows;
    Pool::instance().run(n_chunks, n_threads, map_task<T, P, I>, &sweep);
    return !pulse.stopped();
}
