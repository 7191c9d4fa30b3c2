// The split Bregman loop with exact solves: what one walk over the fronts needs.
//
// As in split_bregman.hpp, only plain structs and function pointers live here.
#pragma once

#include <cstdint>

#include "split_bregman.hpp"

namespace pfeseg {

// Columns of the factor that are eliminated together and share their rows below the diagonal.
//
// A walk down the tree of fronts and up again keeps what it knows of the fronts between it and
// the root on a stack: `slot` is the place there of the first column.
struct Front {
    int32_t begin, columns, parent;  // in the order of elimination
    int32_t rows, first_row;         // below the columns: number, and place among all rows
    int32_t slot;
    // Where its part of the arrays begins. All lies in the order of the walk down, so that memory
    // is read as a stream.
    int32_t place;       // columns
    int32_t first_edge;  // edges to later columns
    int64_t values;      // entries of the factor
};

// An edge of a column to a later one.
struct LaterEdge {
    int32_t slot;    // of the later column
    int32_t column;  // the later column itself
    int32_t edge;    // which edge of the graph
};

// Panels are the columns that the solver treats at once.
constexpr int kPanel = 4;

static inline int panel_count(int32_t columns) { return (columns + kPanel - 1) / kPanel; }

static inline int32_t panel_width(int32_t columns, int panel) {
    const int panels = panel_count(columns);
    return columns / panels + (panel < columns % panels);
}

// Entries of a front in the factor: for each panel its inverse pivots, its triangle and, for
// each later row of the front, an entry for each column of the panel.
static inline int64_t front_entries(int32_t columns, int32_t rows) {
    int64_t entries = 0;
    int32_t first = 0;
    for (int p = 0; p < panel_count(columns); ++p) {
        const int32_t width = panel_width(columns, p);
        first += width;
        entries += width * (width + 1) / 2 + int64_t{width} * (columns - first + rows);
    }
    return entries;
}

// A = lam M^T M + r D, factorised as L Delta L^T.
template <class T>
struct FactorisedSystem {
    const Front *fronts;
    const int32_t *row_slots;
    const T *values;  // of each front: inverse pivots, and negated entries of L
    const LaterEdge *edges;
    const int32_t *edge_end;  // of each column
    const T *weights;  // of the later edges
    const T *sqrt_degrees;
    T lam;
    T r;
};

// Some columns of the problem, interleaved: `width` numbers to a row. What a front knows of them lies
// together, so that memory is read as one stream.
template <class T>
struct BlockData {
    T *rows;
    bool far;  // beyond the caches, so that it is worth while to ask for it ahead of time
};

// The part of one front.
template <class T>
struct FrontData {
    T *V;  // a row for each column, result of the forward sweep: L V = residual
    T *Y;  // the same, solution
    T *F;  // the same, target of D^1/2 Y
    T *U;  // a row for each edge to a later column, Bregman vector
};

// Rows of data of so many columns with so many edges to later ones.
static inline int64_t data_rows(int64_t columns, int64_t edges) { return 3 * columns + edges; }

template <class T>
FrontData<T> front_data(T *rows, const Front &front, int width) {
    const int64_t size = int64_t{width} * front.columns;
    T *const V = rows + width * data_rows(front.place, front.first_edge);
    return {V, V + size, V + 2 * size, V + 3 * size};
}

// What a walk carries along, by slots: of the fronts between it and the root.
template <class T>
struct WalkStack {
    T *y;    // solution
    T *z;    // its last change
    T *sum;  // of what the columns below add to the residual and subtract in the forward sweep
    double energy[kMaxWidth];    // ||M y||_1 over the edges from the fronts of the walk
    double fidelity[kMaxWidth];  // ||D^1/2 y - f||^2 over their columns
};

template <class T>
struct WalkKernel {
    // Visits fronts, 2 f on the way down and 2 f + 1 on the way up.
    void (*walk)(const FactorisedSystem<T> &, const BlockData<T> &, WalkStack<T> &,
                 const int32_t *visits, int32_t count);
    // Eliminates the first `columns` columns of a dense symmetric matrix of which the upper
    // triangle is given by rows, `size` each. Leaves the pivots on the diagonal, the rows of
    // Delta L^T beside them, and what is left to eliminate below; false if a pivot is not positive.
    bool (*eliminate)(T *matrix, int32_t size, int32_t columns);
};

// `width` is 4, 8 or 16.
template <class T>
WalkKernel<T> baseline_walk(int width);
#ifdef PFESEG_HAS_AVX2
template <class T>
WalkKernel<T> avx2_walk(int width);
#endif

}  // namespace pfeseg
