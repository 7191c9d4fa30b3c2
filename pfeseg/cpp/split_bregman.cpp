// The split Bregman loop for a block of columns. Compiled once per
// instruction set; PFESEG_VARIANT names the function that this build exports.
//
// Lanes are columns, so no operation mixes columns and every sum runs over the
// rows in one fixed order: a column's bytes do not depend on the block that it
// shares, hence not on the number of threads.
#include "split_bregman.hpp"

#include "pack.hpp"
#include "portable.hpp"

namespace pfeseg {
namespace {

// The block's arrays as local pointers, which no store can change.
template <class T>
struct Arrays {
    T *const __restrict Y, *const __restrict X;
    T *const __restrict F, *const __restrict U;
    T *const __restrict R, *const __restrict V, *const __restrict P;
    explicit Arrays(const Block<T> &b)
        : Y(b.Y), X(b.X), F(b.F), U(b.U), R(b.R), V(b.V), P(b.P) {}
};

// One row of the forward sweep L v = r (step 1a of `solve`):
// v_i = r_i - sum_{j < i} l_ij v_j.
//
// `previous` is v_{i-1}, still in registers: rows of an image mostly end with
// that link, and waiting for its store would be the slowest part of the sweep.
template <class T, int W>
inline Pack<T, W> forward_row(Pack<T, W> r, int32_t i, const Link<T> *link,
                              int32_t links, const T *V, const Pack<T, W> &previous) {
    for (int32_t k = 0; k < links; ++k) {
        const int32_t j = link[k].node;
        r = r.plus(j == i - 1 ? previous : Pack<T, W>::load(V + int64_t{W} * j),
                   link[k].minus_l);
    }
    return r;
}

// The next solve starts from X = Y + kExtrapolation (Y - Y_old): the solutions
// of a loop move on smoothly, so this is several times closer than Y. Only the
// first two leap, and are left alone.
constexpr double kExtrapolation = 0.8;
constexpr int32_t kRoughIterations = 2;

// Shrink and update (lines 6 and 7 of Algorithm 2), then the next system's
// residual at its starting point X, in one pass over the rows.
//
// With T = M Y + U_old:  U = clip(T, 1/lam) and Z = T - U, so Z need not be
// kept, and the residual  lam M^T (Z - U - M X) + r D^1/2 (F - D^1/2 X)
// becomes                 lam M^T (U_old - 2 U - M (X - Y)) + r D^1/2 (F - D^1/2 X).
// Every edge is reached from its first node, so row i is complete when the
// pass arrives there, and the first forward sweep can go along: steps 1a and 2
// of `solve`. On entry X holds the new Y, as `solve` left it, and Y the old one.
template <class T, int W, int K>
void update_edges(const System<T> &s, Block<T> &b) {
    using Lanes = Pack<T, W>;
    const T lam = s.lam, r = s.r, bound = T(1) / lam;
    const T ahead = b.iterations < kRoughIterations ? T(0) : T(kExtrapolation);
    const Arrays<T> at(b);
    Sum<T, W> residual2, rhs2, rho, energy, fidelity;
    fill_zero<T, W>(at.R, s.n);
    fill_zero<T, W>(at.P, s.n);
    int32_t lower = 0, upper = 0;
    Lanes v = Lanes::all(0);
    for (int32_t begin = 0; begin < s.n; begin += kRunRows) {
        const int32_t end = begin + kRunRows < s.n ? begin + kRunRows : s.n;
        for (int32_t i = begin; i < end; ++i) {
            const Row<T> &row = s.rows[i];
            const T sqrt_degree = s.sqrt_degrees[i];
            const int64_t here = int64_t{W} * i;
            const Lanes y = Lanes::load(at.X + here), f = Lanes::load(at.F + here);
            const Lanes step = (y - Lanes::load(at.Y + here)) * ahead;
            const Lanes misfit = f.plus(y, -sqrt_degree);
            fidelity.add(misfit, misfit);
            // The rows' share of the next residual and right-hand side; the edges add theirs.
            Lanes residual = Lanes::load(at.R + here)
                                 .plus(misfit.plus(step, -sqrt_degree), r * sqrt_degree);
            Lanes rhs = Lanes::load(at.P + here).plus(f, r * sqrt_degree);
            const int32_t uppers = K ? K : s.upper_end[i] - upper;
            for (int32_t k = 0; k < uppers; ++k, ++upper) {
                const T w = s.weights[upper];
                const int64_t there = int64_t{W} * s.upper[upper].node;
                T *u = at.U + int64_t{W} * upper;
                const Lanes y_there = Lanes::load(at.X + there);
                const Lanes My = (y - y_there) * w;
                energy.add(My.abs());
                const Lanes u_old = Lanes::load(u);
                const Lanes t = My + u_old;
                const Lanes u_new = t.clip(bound);  // Algorithm 2, line 7; 6 is Z = t - u_new
                u_new.store(u);
                const Lanes twice = u_new + u_new;
                const Lanes step_there = (y_there - Lanes::load(at.Y + there)) * ahead;
                const Lanes to_residual = (u_old - twice).plus(step - step_there, -w) * (lam * w);
                const Lanes to_rhs = (t - twice) * (lam * w);
                residual = residual + to_residual;
                rhs = rhs + to_rhs;
                (Lanes::load(at.R + there) - to_residual).store(at.R + there);
                (Lanes::load(at.P + there) - to_rhs).store(at.P + there);
            }
            // No later row looks back at these.
            y.store(at.Y + here);
            (y + step).store(at.X + here);
            residual.store(at.R + here);
            const Lanes scaled = residual * row.inverse_sqrt_degree;
            residual2.add(scaled, scaled);  // step 8 of solve: ||r||^2
            const Lanes scaled_rhs = rhs * row.inverse_sqrt_degree;
            rhs2.add(scaled_rhs, scaled_rhs);  // step 8: ||b||^2
            const int32_t lowers = K ? K : s.lower_end[i] - lower;
            v = forward_row<T, W>(residual, i, s.lower + lower, lowers, at.V, v);  // step 1a
            lower += lowers;
            v.store(at.V + here);
            rho.add(v * row.inverse_pivot, v);  // step 2
        }
        residual2.end_run();
        rhs2.end_run();
        rho.end_run();
        energy.end_run();
        fidelity.end_run();
    }
    residual2.write(b.residual2);
    rhs2.write(b.rhs2);
    rho.write(b.rho);
    energy.write(b.energy);
    fidelity.write(b.fidelity);
}

// Steps 1b and 4 of `solve`, and P^T A P for step 5: the backward sweep
// z = L^-T Delta^-1 v in place, P = z + beta P, and the sum. As A is symmetric,
// P^T A P = sum_i p_i (a_ii p_i + 2 sum_{j > i} a_ij p_j): later rows suffice.
template <class T, int W, int K>
void backward_pass(const System<T> &s, Block<T> &b, const T *beta, double *pAp) {
    using Lanes = Pack<T, W>;
    const Lanes beta_ = Lanes::load(beta);
    const Arrays<T> at(b);
    Sum<T, W> sum;
    Lanes z = Lanes::all(0), p = Lanes::all(0);  // of row i + 1, as in forward_row
    for (int32_t end = s.n; end > 0; end -= kRunRows) {
        const int32_t begin = end > kRunRows ? end - kRunRows : 0;
        for (int32_t i = end - 1; i >= begin; --i) {
            const int64_t here = int64_t{W} * i;
            const int32_t first = K ? K * i : i ? s.upper_end[i - 1] : 0;
            const int32_t uppers = K ? K : s.upper_end[i] - first;
            Lanes z_i = Lanes::load(at.V + here) * s.rows[i].inverse_pivot;  // 1b: Delta^-1 v
            Lanes Ap = Lanes::all(0);  // the part above the diagonal
            for (int32_t k = uppers - 1; k >= 0; --k) {
                const Link<T> &link = s.upper[first + k];
                const int64_t there = int64_t{W} * link.node;
                const bool next = link.node == i + 1;
                z_i = z_i.plus(next ? z : Lanes::load(at.V + there), link.minus_l);  // 1b: L^-T
                Ap = Ap.plus(next ? p : Lanes::load(at.P + there), link.a);  // 5
            }
            z = z_i;
            z.store(at.V + here);
            p = z.plus(Lanes::load(at.P + here), beta_);  // 4
            p.store(at.P + here);
            sum.add(p, (Ap + Ap).plus(p, s.rows[i].a));  // 5: p^T A p
        }
        sum.end_run();
    }
    sum.write(pAp);
}

// Steps 6 and 7 of `solve`, the norm for step 8, and steps 1a and 2 of the next
// iteration: X += alpha P, R -= alpha A P, ||R||, forward sweep and rho.
template <class T, int W, int K>
void forward_pass(const System<T> &s, Block<T> &b, const T *alpha) {
    using Lanes = Pack<T, W>;
    const Lanes alpha_ = Lanes::load(alpha), minus_alpha = Lanes::all(0) - alpha_;
    const Arrays<T> at(b);
    Sum<T, W> residual2, rho;
    int32_t lower = 0, upper = 0;
    Lanes v = Lanes::all(0);
    for (int32_t begin = 0; begin < s.n; begin += kRunRows) {
        const int32_t end = begin + kRunRows < s.n ? begin + kRunRows : s.n;
        for (int32_t i = begin; i < end; ++i) {
            const Row<T> &row = s.rows[i];
            const int64_t here = int64_t{W} * i;
            const int32_t uppers = K ? K : s.upper_end[i] - upper;
            const int32_t lowers = K ? K : s.lower_end[i] - lower;
            const Lanes p = Lanes::load(at.P + here);
            Lanes::load(at.X + here).plus(alpha_, p).store(at.X + here);  // 6
            Lanes Ap = p * row.a;
            for (int32_t k = upper; k < upper + uppers; ++k)
                Ap = Ap.plus(Lanes::load(at.P + int64_t{W} * s.upper[k].node), s.upper[k].a);
            for (int32_t k = lower; k < lower + lowers; ++k)
                Ap = Ap.plus(Lanes::load(at.P + int64_t{W} * s.lower[k].node), s.lower[k].a);
            const Lanes residual = Lanes::load(at.R + here).plus(minus_alpha, Ap);  // 7
            residual.store(at.R + here);
            const Lanes scaled = residual * row.inverse_sqrt_degree;
            residual2.add(scaled, scaled);  // 8: ||r||^2
            v = forward_row<T, W>(residual, i, s.lower + lower, lowers, at.V, v);  // 1a
            v.store(at.V + here);
            rho.add(v * row.inverse_pivot, v);  // 2
            upper += uppers;
            lower += lowers;
        }
        residual2.end_run();
        rho.end_run();
    }
    residual2.write(b.residual2);
    rho.write(b.rho);
}

// Below this, squares are sums of subnormal numbers and may have any sign. Only
// a column of rounding errors, as of an empty component, is so small: it rests.
template <class T>
constexpr double kNothing = sizeof(T) == 4 ? 1e-31 : 1e-292;

// Preconditioned conjugate gradient for A x = b, from the x and r = b - A x that
// update_edges left. Every iteration is the textbook's:
//
//   1  z = (L Delta L^T)^-1 r:  a) L v = r,  b) L^T z = Delta^-1 v
//   2  rho = r^T z = v^T Delta^-1 v
//   3  beta = rho / rho_old, or 0 in the first iteration
//   4  p = z + beta p
//   5  alpha = rho / p^T A p
//   6  x += alpha p
//   7  r -= alpha A p
//   8  stop at ||r|| <= rtol ||b||, in the norm ||D^-1/2 .||
//
// An iteration goes over the rows only twice, since memory is what it waits for.
// backward_pass, from the last row to the first, does 1b, 4 and p^T A p.
// forward_pass, from the first row to the last, does 6, 7 and ||r||, and at once
// 1a and 2 of the next iteration; update_edges did those of the first one.
//
// A column that has converged is frozen (alpha = 0) while others go on.
template <class T, int W, int K>
Status solve(const System<T> &s, Block<T> &b, double rtol, int32_t cap,
             const int32_t *cancelled) {
    alignas(64) T alpha[W] = {}, beta[W] = {};
    double target[W], rho_old[W], pAp[W];
    bool active[W];
    bool any = false;
    for (int c = 0; c < W; ++c) {
        const double scale = b.rhs2[c] > 0 ? b.rhs2[c] : b.residual2[c];
        if (!finite(scale) || !finite(b.residual2[c]) || !finite(b.rho[c]))
            return Status::not_finite;
        target[c] = rtol * rtol * scale;  // 8: (rtol ||b||)^2
        // At least one iteration, so that small changes are not lost for good.
        active[c] = b.residual2[c] > 0 && b.rho[c] > 0;
        any = any || active[c];
        b.pcg_iterations[c] = 0;
    }
    for (int32_t iteration = 0; any && iteration < cap; ++iteration) {
        if (look_at(cancelled)) return Status::cancelled;
        backward_pass<T, W, K>(s, b, beta, pAp);  // 1b, 4, 5: p^T A p
        for (int c = 0; c < W; ++c) {
            if (active[c] && !finite(pAp[c])) return Status::not_finite;
            if (active[c] && pAp[c] < -kNothing<T>) return Status::indefinite;
            active[c] = active[c] && pAp[c] > kNothing<T>;
            alpha[c] = active[c] ? static_cast<T>(b.rho[c] / pAp[c]) : T(0);  // 5
            rho_old[c] = b.rho[c];
        }
        forward_pass<T, W, K>(s, b, alpha);  // 6, 7, 8: ||r||, next 1a, next 2
        any = false;
        for (int c = 0; c < W; ++c) {
            if (!active[c]) continue;
            if (!finite(b.residual2[c]) || !finite(b.rho[c])) return Status::not_finite;
            ++b.pcg_iterations[c];
            active[c] = b.residual2[c] > target[c] && b.rho[c] > 0;  // 8
            beta[c] = active[c] ? static_cast<T>(b.rho[c] / rho_old[c]) : T(0);  // next 3
            any = any || active[c];
        }
    }
    for (int c = 0; c < W; ++c) b.capped[c] = active[c];
    return Status::ok;
}

// Begins at X = Y = Z = U = 0. The first system's solution is a strongly
// smoothed F, to which the embedding of an earlier loop is no nearer than zero.
template <class T, int W, int K>
void start(const System<T> &s, Block<T> &b) {
    b.iterations = 0;
    fill_zero<T, W>(b.X, s.n);
    fill_zero<T, W>(b.Y, s.n);
    const int32_t links = !s.n ? 0 : K ? K * s.n : s.upper_end[s.n - 1];
    fill_zero<T, W>(b.U, links);
    update_edges<T, W, K>(s, b);
}

// One iteration of Algorithm 2: Y by `solve` (line 5), then lines 6 and 7.
template <class T, int W, int K>
Status iterate(const System<T> &s, Block<T> &b, double rtol, int32_t cap,
               const int32_t *cancelled) {
    const Status status = solve<T, W, K>(s, b, rtol, cap, cancelled);
    if (status != Status::ok) return status;
    ++b.iterations;
    update_edges<T, W, K>(s, b);
    return status;
}

template <class T, int W, int K>
Kernel<T> kernel() {
    return {start<T, W, K>, iterate<T, W, K>};
}

template <class T, int W>
Kernel<T> kernel_for(int links) {
    return links == 2 ? kernel<T, W, 2>() : links == 4 ? kernel<T, W, 4>() : kernel<T, W, 0>();
}

}  // namespace

template <class T>
Kernel<T> PFESEG_VARIANT(int width, int links) {
    return width == 4   ? kernel_for<T, 4>(links)
           : width == 8 ? kernel_for<T, 8>(links)
                        : kernel_for<T, 16>(links);
}

template Kernel<float> PFESEG_VARIANT<float>(int, int);
template Kernel<double> PFESEG_VARIANT<double>(int, int);

}  // namespace pfeseg
