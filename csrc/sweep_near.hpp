// A sweep with hard assignment that computes only the scores of components that may win: see
// data/near.py for the bounds. Rows are taken in chunks, each by one thread from beginning to end, and
// every score has the bits that a sweep over all components gives it: so neither threads nor what
// was left out change a result. Included once per instruction set, inside its namespace.

static constexpr std::int64_t near_rows = 1024;  // rows of a chunk

// The components of one group in a panel of those that have moved far, and how far beyond the
// growth of the group.
struct FarSegment {
    std::int64_t group;
    std::int64_t first, size;   // in the panel
    double beyond;
};

template <class P>
struct NearScratch {
    Buffer<P> packed;                // the rows of a chunk, where they cannot be read in place
    Buffer<P> products;              // (near_rows, group_size)
    std::vector<const P*> address;   // of the rows of a chunk
    std::vector<const P*> listed;    // of the rows that are multiplied
    std::vector<std::int32_t> ids;   // their numbers in the chunk
    std::vector<std::int32_t> open;  // rows of the chunk that another component may win
    std::vector<double> best, top, s;
    std::vector<unsigned char> chosen;
    std::vector<std::int32_t> starts, sorted;
    std::int64_t n_scores = 0;
};

template <class T, class P>
struct NearSweep {
    using V = typename Vectors<P>::Full;
    DenseRows<T> rows;
    const Near* near;
    Pulse* pulse;
    Panels<P, 1> panels;
    std::vector<FarSegment> segments;
    std::vector<std::int64_t> segment_starts;   // by panel of far components
    std::vector<NearScratch<P>> scratch;

    bool in_place() const { return std::is_same<T, P>::value && rows.column_stride == 1; }
    std::int64_t n_far_panels() const { return panels.count() - near->first_far() / V::width; }
};

// A bound that is not below x when it is stored.
static inline float stored_above(double x) {
    x = std::max(x, -near_beyond);
    return static_cast<float>(x + std::abs(x) * 0x1p-23);
}

// OUT out: (R, stride): the products of R listed rows with N panels, one after another, of one vector
// of components each. Each is one chain of additions in the order of the columns, as in multiply_tile.
template <class V, int N, int R, class P>
static inline void multiply_listed_tile(const P* const* listed, std::int64_t d,
                                        const P* __restrict panels, P* __restrict out,
                                        std::int64_t stride) {
    const P* row[R];
    typename V::Reg sum[R][N];
    SPHEREMIX_UNROLL
    for (int r = 0; r < R; ++r) {
        row[r] = listed[r];
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) sum[r][v] = V::set1(P(0));
    }
    for (std::int64_t j = 0; j < d; ++j, panels += V::width) {
        typename V::Reg m[N];
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) m[v] = V::load(panels + v * d * V::width);
        SPHEREMIX_UNROLL
        for (int r = 0; r < R; ++r) {
            const typename V::Reg x = V::set1(row[r][j]);
            SPHEREMIX_UNROLL
            for (int v = 0; v < N; ++v) sum[r][v] = V::fma(x, m[v], sum[r][v]);
        }
    }
    SPHEREMIX_UNROLL
    for (int r = 0; r < R; ++r) {
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) V::store(out + r * stride + v * V::width, sum[r][v]);
    }
}

// OUT out: (listed rows, stride): their products with N panels.
template <int N, class T, class P>
static void multiply_listed(const NearSweep<T, P>& sweep, NearScratch<P>& own, std::int64_t panel,
                            P* out, std::int64_t stride) {
    using V = typename Vectors<P>::Full;
    constexpr int together = SPHEREMIX_LEVEL == 2 ? (N == 1 ? 12 : 8) : (N == 1 ? 8 : 4);
    const std::int64_t d = sweep.near->n_features, n = static_cast<std::int64_t>(own.ids.size());
    const P* base = sweep.panels.base(panel);
    own.listed.clear();
    for (const std::int32_t i : own.ids) own.listed.push_back(own.address[i]);
    const P* const* listed = own.listed.data();
    std::int64_t i = 0;
    for (; i + together <= n; i += together)
        multiply_listed_tile<V, N, together>(listed + i, d, base, out + i * stride, stride);
    for (; i + 4 <= n; i += 4)
        multiply_listed_tile<V, N, 4>(listed + i, d, base, out + i * stride, stride);
    for (; i < n; ++i) multiply_listed_tile<V, N, 1>(listed + i, d, base, out + i * stride, stride);
    own.n_scores += n * N * V::width;
}

// Another component has won a row: what was its owner is one of the others now.
static inline void win(const Near& near, std::int64_t n_rows, std::int64_t row, double& best,
                       double score, std::int32_t component) {
    const std::int64_t group = near.group_of(near.owners[row]);
    float& bound = near.bounds[group * n_rows + row];
    bound = std::max(bound, stored_above(best + near.rounding - near.grown[group]));
    best = score;
    near.owners[row] = component;
}

static inline bool wins(double score, std::int32_t component, double best, std::int32_t owner) {
    return score > best || (score == best && component < owner);
}

// Lower the scores of owners that have moved; list the rows that another component may win.
template <class T, class P>
static void open_rows(const NearSweep<T, P>& sweep, NearScratch<P>& own, std::int64_t begin,
                      std::int64_t n) {
    const Near& near = *sweep.near;
    const std::int64_t n_rows = sweep.rows.n;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t row = begin + i;
        const std::int32_t k = near.owners[row];
        if (near.moved[k]) {
            near.scores[row] -= near.lost[k] + (near.known[row] ? near.rounding_before : 0.0);
            near.known[row] = 0;
        }
        own.best[i] = near.scores[row] - (near.known[row] ? 0.0 : near.rounding);
    }
    double* __restrict top = own.top.data();
    std::fill_n(top, n, -near_beyond);
    const auto raise = [&](std::int64_t group, double by) {
        const float* __restrict bound = near.bounds + group * n_rows + begin;
        for (std::int64_t i = 0; i < n; ++i) {
            const double value = static_cast<double>(bound[i]) + by;
            top[i] = value > top[i] ? value : top[i];
        }
    };
    for (std::int64_t g = 0; g < near.n_groups; ++g) raise(g, near.grown[g] + near.rounding);
    for (const FarSegment& far : sweep.segments)
        raise(far.group, near.grown[far.group] + near.rounding + near.eagerness * far.beyond);
    own.open.clear();
    for (std::int64_t i = 0; i < n; ++i)
        if (top[i] >= own.best[i] && (!near.weights || near.weights[begin + i] != 0.0))
            own.open.push_back(static_cast<std::int32_t>(i));
    if (sweep.in_place()) {
        if constexpr (std::is_same<T, P>::value)
            for (const std::int32_t i : own.open)
                own.address[i] = sweep.rows.data + (begin + i) * sweep.rows.row_stride;
        return;
    }
    for (const std::int32_t i : own.open) {
        P* to = own.packed.get() + i * near.n_features;
        copy_block(sweep.rows, begin + i, 1, near.n_features, to);
        own.address[i] = to;
    }
}

// One group, for the rows that are listed: who of it wins them, and their bounds set anew. The scores
// of owners in the group become known.
template <class T, class P>
static void score_group(const NearSweep<T, P>& sweep, NearScratch<P>& own, std::int64_t group,
                        std::int64_t begin) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const Near& near = *sweep.near;
    const std::int64_t n_rows = sweep.rows.n, size = near.group_size, first = group * size;
    if (own.ids.empty()) return;
    float* bounds = near.bounds + group * n_rows + begin;
    std::int64_t n_members = 0, at = 0;
    while (n_members < size && near.members[first + n_members] >= 0) ++n_members;
    for (; at + width < n_members; at += 2 * width)
        multiply_listed<2>(sweep, own, (first + at) / width, own.products.get() + at, size);
    if (at < n_members)
        multiply_listed<1>(sweep, own, (first + at) / width, own.products.get() + at, size);
    const P* products = own.products.get();
    for (const std::int32_t i : own.ids) {
        const std::int64_t row = begin + i;
        double* s = own.s.data();
        affine(products, sweep.rows.scale[row], near.biases + first, n_members, s);
        products += size;
        const std::int64_t owner = near.place[near.owners[row]] - first;
        if (owner >= 0 && owner < size) {
            own.best[i] = s[owner];
            near.known[row] = 1;
            s[owner] = minus_infinity;
        }
        double next = largest(s, n_members);
        const std::int64_t z = first_largest(s, n_members, next);
        if (next > minus_infinity &&
            wins(next, near.members[first + z], own.best[i], near.owners[row])) {
            const double score = next;
            s[z] = minus_infinity;
            next = largest(s, n_members);
            bounds[i] = stored_above(next + near.rounding - near.grown[group]);
            win(near, n_rows, row, own.best[i], score, near.members[first + z]);
            continue;
        }
        bounds[i] = stored_above(next + near.rounding - near.grown[group]);
    }
}

// The groups of the owners of open rows, where the owner's score is not known.
template <class T, class P>
static void score_owners(const NearSweep<T, P>& sweep, NearScratch<P>& own, std::int64_t begin) {
    const Near& near = *sweep.near;
    own.starts.assign(static_cast<std::size_t>(near.n_groups) + 1, 0);
    own.sorted.clear();
    for (const std::int32_t i : own.open)
        if (!near.known[begin + i]) {
            ++own.starts[near.group_of(near.owners[begin + i]) + 1];
            own.sorted.push_back(i);
        }
    if (own.sorted.empty()) return;
    for (std::int64_t g = 0; g < near.n_groups; ++g) own.starts[g + 1] += own.starts[g];
    own.ids = own.sorted;
    for (const std::int32_t i : own.ids)
        own.sorted[own.starts[near.group_of(near.owners[begin + i])]++] = i;
    for (std::int64_t g = 0, from = 0; g < near.n_groups; from = own.starts[g++]) {
        own.ids.assign(own.sorted.begin() + from, own.sorted.begin() + own.starts[g]);
        score_group(sweep, own, g, begin);
    }
}

// One panel of components that have moved far: those that are not multiplied raise the bounds.
template <class T, class P>
static void score_far(const NearSweep<T, P>& sweep, NearScratch<P>& own, std::int64_t far,
                      std::int64_t begin, std::int64_t n) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const Near& near = *sweep.near;
    const std::int64_t n_rows = sweep.rows.n, panel = near.first_far() / width + far;
    const FarSegment* first = sweep.segments.data() + sweep.segment_starts[far];
    const FarSegment* last = sweep.segments.data() + sweep.segment_starts[far + 1];
    own.ids.clear();
    std::fill_n(own.chosen.data(), n, static_cast<unsigned char>(0));
    for (const std::int32_t i : own.open) {
        bool may_win = false;
        for (const FarSegment* s = first; s < last; ++s) {
            const double bound = near.bounds[s->group * n_rows + begin + i];
            const double by = near.grown[s->group] + near.rounding + near.eagerness * s->beyond;
            may_win |= bound + by >= own.best[i];
        }
        if (!may_win) continue;
        own.ids.push_back(i);
        own.chosen[i] = 1;
    }
    for (const FarSegment* s = first; s < last; ++s) {
        float* __restrict bound = near.bounds + s->group * n_rows + begin;
        const unsigned char* __restrict chosen = own.chosen.data();
        for (std::int64_t i = 0; i < n; ++i) {
            const float raised = stored_above(static_cast<double>(bound[i]) + s->beyond);
            bound[i] = chosen[i] ? bound[i] : raised;
        }
    }
    if (own.ids.empty()) return;
    multiply_listed<1>(sweep, own, panel, own.products.get(), width);
    const std::int32_t* members = near.members + panel * width;
    double* scores = own.s.data();
    const P* products = own.products.get();
    for (const std::int32_t i : own.ids) {
        const std::int64_t row = begin + i;
        affine(products, sweep.rows.scale[row], near.biases + panel * width, width, scores);
        products += width;
        for (const FarSegment* s = first; s < last; ++s) {
            double next = -near_beyond;
            for (std::int64_t m = s->first; m < s->first + s->size; ++m) {
                if (members[m] == near.owners[row]) continue;
                if (wins(scores[m], members[m], own.best[i], near.owners[row]))
                    win(near, n_rows, row, own.best[i], scores[m], members[m]);
                else
                    next = std::max(next, scores[m]);
            }
            float& bound = near.bounds[s->group * n_rows + row];
            bound = std::max(bound, stored_above(next + near.rounding - near.grown[s->group]));
        }
    }
}

// List the open rows that a component of the group may win.
template <class T, class P>
static void list_rows(const NearSweep<T, P>& sweep, NearScratch<P>& own, std::int64_t group,
                      std::int64_t begin) {
    const Near& near = *sweep.near;
    const double by = near.grown[group] + near.rounding;
    const float* bounds = near.bounds + group * sweep.rows.n + begin;
    own.ids.clear();
    for (const std::int32_t i : own.open)
        if (static_cast<double>(bounds[i]) + by >= own.best[i]) own.ids.push_back(i);
}

template <class T, class P>
static void near_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<NearSweep<T, P>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    const Near& near = *sweep.near;
    const std::int64_t begin = task * near_rows;
    const std::int64_t n = std::min(sweep.rows.n - begin, near_rows);
    open_rows(sweep, own, begin, n);
    score_owners(sweep, own, begin);
    for (std::int64_t far = 0; far < sweep.n_far_panels(); ++far)
        score_far(sweep, own, far, begin, n);
    for (std::int64_t group = 0; group < near.n_groups; ++group) {
        list_rows(sweep, own, group, begin);
        score_group(sweep, own, group, begin);
    }
    for (const std::int32_t i : own.open) near.scores[begin + i] = own.best[i];
}

// The groups of each panel of components that have moved far, each once.
template <class T, class P>
static void find_segments(NearSweep<T, P>& sweep) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const Near& near = *sweep.near;
    const std::int64_t first = near.first_far();
    sweep.segment_starts.assign(1, 0);
    for (std::int64_t place = first; place < near.n_places; place += width) {
        const std::size_t begin = sweep.segments.size();
        for (std::int64_t p = place; p < place + width; ++p) {
            if (near.members[p] < 0) continue;
            const std::int64_t group = near.group_of(near.members[p]);
            const double beyond = near.beyond[p - first];
            if (sweep.segments.size() == begin || sweep.segments.back().group != group)
                sweep.segments.push_back({group, p - place, 0, beyond});
            FarSegment& last = sweep.segments.back();
            last.beyond = std::max(last.beyond, beyond);
            ++last.size;
        }
        sweep.segment_starts.push_back(static_cast<std::int64_t>(sweep.segments.size()));
    }
}

// INOUT near: the owner of each row, its score, and the bounds. OUT n_scores: how many scores were
// computed. Products are of type P. Returns false when interrupted.
template <class P, class T>
static bool dense_near(const DenseRows<T>& rows, const Near& near, std::int64_t& n_scores,
                       int n_threads, Pulse& pulse) {
    NearSweep<T, P> sweep;
    sweep.rows = rows;
    sweep.near = &near;
    sweep.pulse = &pulse;
    Scorers scorers{};
    scorers.matrix = near.matrix;
    scorers.biases = near.biases;
    scorers.n_components = near.n_places;
    scorers.n_features = near.n_features;
    pack(scorers, sweep.panels, false, n_threads);
    find_segments(sweep);
    sweep.scratch = std::vector<NearScratch<P>>(static_cast<std::size_t>(n_threads));
    for (auto& own : sweep.scratch) {
        const auto n = static_cast<std::size_t>(near_rows);
        own.products.resize(near_rows * near.group_size);
        if (!sweep.in_place()) own.packed.resize(near_rows * near.n_features);
        own.address.resize(n);
        own.best.resize(n);
        own.top.resize(n);
        own.chosen.resize(n);
        own.s.resize(static_cast<std::size_t>(near.group_size));
    }
    Pool::instance().run((rows.n + near_rows - 1) / near_rows, n_threads, near_task<T, P>, &sweep);
    n_scores = 0;
    for (const auto& own : sweep.scratch) n_scores += own.n_scores;
    return !pulse.stopped();
}
