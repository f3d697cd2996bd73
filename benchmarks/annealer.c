/* A plain simulated annealer for placements of rectangles: the outside reference of benchmarks/placement.py.

   Standard input: seconds, seed; number of modules, of pins, of wires; the row step; then for each module its group
   (modules of one group may not overlap), numbers of row steps and of left edges, lowest row, the left edges, and for
   each bottom, top (in steps) and left edge the least and the largest legal right column (-1 -1: none); the legal
   right edges; pins (twice column, row); wires: end, end, bits, where ends from the number of modules on are pins;
   and, if there is one, a first legal layout: left, bottom, right, top of each module.
   Standard output: twice the wirelength, then left, bottom, right, top of each module, and the number of moves.

   Rectangles may overlap at a price that rises while the temperature falls. Only layouts without overlap count. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_MODULES 128
#define MAX_WIRES 2048

typedef struct { int b, t, l, left, bottom, right, top; } Box;

static int n, pins, wires, step, n_right;
static int group[MAX_MODULES], steps[MAX_MODULES], lefts[MAX_MODULES], base[MAX_MODULES];
static int *left_edge[MAX_MODULES];
static int16_t *low[MAX_MODULES], *high[MAX_MODULES];
static int *right_edge;
static int degree[MAX_MODULES], other[MAX_MODULES][MAX_WIRES];
static int64_t bits[MAX_MODULES][MAX_WIRES], weight[MAX_MODULES];
static int pin_x[MAX_MODULES], pin_y[MAX_MODULES];
static int peers[MAX_MODULES], peer[MAX_MODULES][MAX_MODULES];
static Box now[MAX_MODULES], best[MAX_MODULES];
static int64_t best_cost = INT64_MAX;
static long moves;

static uint64_t state;
static inline uint64_t draw(void) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state;
}
static inline int below(int limit) { return (int)((draw() >> 33) % (uint64_t)limit); }
static inline double unit(void) { return (double)(draw() >> 11) / 9007199254740992.0; }

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline size_t cell(int m, int b, int t, int l) { return ((size_t)b * steps[m] + t) * lefts[m] + l; }

/* Fill a box from bottom, top, left; wider: how many right edges beyond the least. Return whether it is legal. */
static int fill(int m, int b, int t, int l, int wider, Box *box) {
    if (b < 0 || t >= steps[m] || t < b || l < 0 || l >= lefts[m]) return 0;
    size_t at = cell(m, b, t, l);
    int right = low[m][at];
    if (right < 0) return 0;
    if (wider) {
        int i = 0;
        while (right_edge[i] < right) i++;
        i += wider;
        if (i >= n_right || right_edge[i] > high[m][at]) return 0;
        right = right_edge[i];
    }
    box->b = b; box->t = t; box->l = l;
    box->left = left_edge[m][l]; box->right = right;
    box->bottom = base[m] + b * step; box->top = base[m] + (t + 1) * step - 1;
    return 1;
}

static inline int overlap(const Box *a, const Box *b) {
    int x = (a->right < b->right ? a->right : b->right) - (a->left > b->left ? a->left : b->left) + 1;
    if (x <= 0) return 0;
    int y = (a->top < b->top ? a->top : b->top) - (a->bottom > b->bottom ? a->bottom : b->bottom) + 1;
    return y <= 0 ? 0 : x * y;
}

static int64_t wire_cost(int m, const Box *box) {
    int x = box->left + box->right, y = box->bottom + box->top;
    int64_t sum = 0;
    for (int k = 0; k < degree[m]; k++) {
        int o = other[m][k], ox, oy;
        if (o < n) { ox = now[o].left + now[o].right; oy = now[o].bottom + now[o].top; }
        else { ox = pin_x[o - n]; oy = pin_y[o - n]; }
        sum += bits[m][k] * (abs(x - ox) + abs(y - oy));
    }
    return sum;
}

static int area_met(int m, const Box *box, int except) {
    int sum = 0;
    for (int k = 0; k < peers[m]; k++) if (peer[m][k] != except) sum += overlap(box, &now[peer[m][k]]);
    return sum;
}

static int64_t total_cost(void) {
    int64_t sum = 0;
    for (int m = 0; m < n; m++)
        for (int k = 0; k < degree[m]; k++) {
            int o = other[m][k];
            int ox = o < n ? now[o].left + now[o].right : pin_x[o - n];
            int oy = o < n ? now[o].bottom + now[o].top : pin_y[o - n];
            if (o >= n || o > m)
                sum += bits[m][k] * (abs(now[m].left + now[m].right - ox) + abs(now[m].bottom + now[m].top - oy));
        }
    return sum;
}

static int *legal[MAX_MODULES], legals[MAX_MODULES];

static int anywhere(int m, Box *box) {
    if (!legals[m]) return 0;
    int at = legal[m][below(legals[m])], l = at % lefts[m], row = at / lefts[m];
    return fill(m, row / steps[m], row % steps[m], l, 0, box);
}

static int nearest_left(int m, int column) {
    int a = 0, z = lefts[m] - 1;
    while (a < z) { int mid = (a + z) / 2; if (left_edge[m][mid] < column) a = mid + 1; else z = mid; }
    return a;
}

/* A box of m of the height of `shape` whose middle is near twice (x, y). */
static int centred(int m, int height, int x2, int y2, Box *box) {
    int b = (y2 / 2 - base[m]) / step - height / 2;
    if (b < 0) b = 0;
    if (b + height > steps[m]) b = steps[m] - height;
    if (b < 0) return 0;
    int l = nearest_left(m, x2 / 2);
    for (int turn = 0; turn < 3; turn++) {
        if (!fill(m, b, b + height - 1, l, 0, box)) { if (l == 0) return 0; l = l * 3 / 4; continue; }
        int wanted = (x2 - (box->right - box->left)) / 2;
        int next = nearest_left(m, wanted);
        if (next == l) return 1;
        l = next;
    }
    return fill(m, b, b + height - 1, l, 0, box);
}

static int small(int spread) {
    int d = 1;
    while (d < spread && (draw() & 0x100000)) d++;
    return (draw() & 0x400000) ? d : -d;
}

static int proposal(int m, double heat, Box *box) {
    Box *at = &now[m];
    int kind = below(100), wide = 2 + (int)(heat * 12);
    if (kind < 30) { /* shift */
        int db = 0, dl = 0;
        if (below(3)) dl = small(wide);
        if (!dl || below(2)) db = small(wide);
        return fill(m, at->b + db, at->t + db, at->l + dl, below(12) ? 0 : below(4), box);
    }
    if (kind < 60) { /* move one or more sides */
        int b = at->b, t = at->t, l = at->l;
        if (below(2)) b += small(wide);
        if (below(2)) t += small(wide);
        if (below(2)) l += small(wide);
        return fill(m, b, t, l, below(12) ? 0 : below(6), box);
    }
    if (kind < 75) { /* another height around the middle */
        int height = at->t - at->b + 1 + small(4 + wide);
        return height > 0 && centred(m, height, at->left + at->right, at->bottom + at->top, box);
    }
    if (kind < 90 && degree[m]) { /* to one that it talks to, with some distance */
        int o = other[m][below(degree[m])];
        int ox = o < n ? now[o].left + now[o].right : pin_x[o - n];
        int oy = o < n ? now[o].bottom + now[o].top : pin_y[o - n];
        int w = at->right - at->left + 1, h = at->top - at->bottom + 1;
        ox += (int)((unit() * 4 - 2) * w); oy += (int)((unit() * 4 - 2) * h);
        return centred(m, at->t - at->b + 1, ox, oy, box);
    }
    return anywhere(m, box);
}

static void keep_if_best(int64_t cost) {
    if (cost < best_cost) { best_cost = cost; memcpy(best, now, sizeof(Box) * n); }
}

static void anneal(double until, double hot, double cold, double price0, double price1) {
    double start = seconds_now(), share = 0, temperature = hot, price = price0;
    int64_t wire = total_cost();
    int64_t met = 0;
    for (int m = 0; m < n; m++) met += area_met(m, &now[m], -1);
    met /= 2;
    for (long count = 0;; count++) {
        if ((count & 1023) == 0) {
            share = (seconds_now() - start) / (until - start);
            if (share >= 1) break;
            temperature = hot * pow(cold / hot, share);
            double rise = share * 1.25 > 1 ? 1 : share * 1.25;
            price = price0 * pow(price1 / price0, rise);
        }
        moves++;
        int m = below(n);
        Box box;
        if (below(10) == 0 && peers[m]) { /* two change places */
            int o = peer[m][below(peers[m])];
            if (steps[o] != steps[m] || lefts[o] != lefts[m]) continue;
            Box to_o, to_m, old_m = now[m], old_o = now[o];
            if (!centred(m, old_m.t - old_m.b + 1, old_o.left + old_o.right, old_o.bottom + old_o.top, &to_o)) continue;
            if (!centred(o, old_o.t - old_o.b + 1, old_m.left + old_m.right, old_m.bottom + old_m.top, &to_m)) continue;
            int64_t before = wire_cost(m, &old_m), after;
            int old_met = area_met(m, &old_m, -1), new_met;
            now[m] = to_o;
            after = wire_cost(m, &to_o);
            new_met = area_met(m, &to_o, -1);
            before += wire_cost(o, &old_o); old_met += area_met(o, &old_o, -1);
            now[o] = to_m;
            after += wire_cost(o, &to_m); new_met += area_met(o, &to_m, -1);
            double rise = (double)(after - before) + price * (new_met - old_met);
            if (rise <= 0 || unit() < exp(-rise / temperature)) {
                wire += after - before; met += new_met - old_met;
                if (met == 0 && wire < best_cost) keep_if_best(wire);
            } else { now[m] = old_m; now[o] = old_o; }
            continue;
        }
        if (!proposal(m, 1 - share, &box)) continue;
        int64_t change = wire_cost(m, &box) - wire_cost(m, &now[m]);
        if (change > 40 * temperature) continue;
        int change_met = area_met(m, &box, -1) - area_met(m, &now[m], -1);
        double rise = (double)change + price * change_met;
        if (rise <= 0 || unit() < exp(-rise / temperature)) {
            now[m] = box; wire += change; met += change_met;
            if (met == 0 && wire < best_cost) keep_if_best(wire);
        }
    }
}

/* Every legal rectangle of every module by turns, until none is better. */
static void descend(void) {
    memcpy(now, best, sizeof(Box) * n);
    for (int better = 1; better;) {
        better = 0;
        for (int m = 0; m < n; m++) {
            int64_t least = wire_cost(m, &now[m]);
            for (int b = 0; b < steps[m]; b++) for (int t = b; t < steps[m]; t++) for (int l = 0; l < lefts[m]; l++) {
                Box box;
                for (int wider = 0; fill(m, b, t, l, wider, &box); wider++) {
                    int64_t cost = wire_cost(m, &box);
                    if (cost < least && area_met(m, &box, -1) == 0) { now[m] = box; least = cost; better = 1; }
                }
            }
        }
    }
    keep_if_best(total_cost());
}

typedef struct { double share, hot, price, last_price; int from_best; } Run;

static const Run plan[] = {
    {0.05, 100, 0.02, 4, 0}, {0.05, 20, 2, 8, 1}, {0.10, 50, 0.02, 4, 0}, {0.10, 50, 0.1, 8, 0},
    {0.15, 100, 0.02, 4, 0}, {0.15, 30, 0.5, 8, 1}, {0.25, 60, 0.02, 8, 0}, {0.15, 10, 0.5, 8, 1},
};
#define RUNS (int)(sizeof plan / sizeof plan[0])

int main(void) {
    double seconds;
    long seed;
    if (scanf("%lf %ld %d %d %d %d", &seconds, &seed, &n, &pins, &wires, &step) != 6) return 1;
    for (int m = 0; m < n; m++) {
        if (scanf("%d %d %d %d", &group[m], &steps[m], &lefts[m], &base[m]) != 4) return 1;
        left_edge[m] = malloc(sizeof(int) * lefts[m]);
        for (int l = 0; l < lefts[m]; l++) if (scanf("%d", &left_edge[m][l]) != 1) return 1;
        size_t size = (size_t)steps[m] * steps[m] * lefts[m];
        low[m] = malloc(size * 2); high[m] = malloc(size * 2);
        for (size_t i = 0; i < size; i++) low[m][i] = high[m][i] = -1;
        for (int b = 0; b < steps[m]; b++) for (int t = b; t < steps[m]; t++) for (int l = 0; l < lefts[m]; l++)
            if (scanf("%hd %hd", &low[m][cell(m, b, t, l)], &high[m][cell(m, b, t, l)]) != 2) return 1;
        legal[m] = malloc(sizeof(int) * size);
        for (size_t i = 0; i < size; i++) if (low[m][i] >= 0) legal[m][legals[m]++] = (int)i;
    }
    if (scanf("%d", &n_right) != 1) return 1;
    right_edge = malloc(sizeof(int) * n_right);
    for (int i = 0; i < n_right; i++) if (scanf("%d", &right_edge[i]) != 1) return 1;
    for (int p = 0; p < pins; p++) if (scanf("%d %d", &pin_x[p], &pin_y[p]) != 2) return 1;
    for (int w = 0; w < wires; w++) {
        int a, b; long width;
        if (scanf("%d %d %ld", &a, &b, &width) != 3) return 1;
        other[a][degree[a]] = b; bits[a][degree[a]++] = width; weight[a] += width;
        if (b < n) { other[b][degree[b]] = a; bits[b][degree[b]++] = width; weight[b] += width; }
    }
    for (int m = 0; m < n; m++) for (int o = 0; o < n; o++)
        if (o != m && group[o] == group[m]) peer[m][peers[m]++] = o;
    state = 88172645463325252ULL ^ ((uint64_t)seed * 0x9E3779B97F4A7C15ULL);
    for (int i = 0; i < 20; i++) draw();
    double mean = 0;
    for (int m = 0; m < n; m++) mean += (double)weight[m] / n;
    if (mean < 1) mean = 1;
    static Box start_boxes[MAX_MODULES];
    int started = 1;
    for (int m = 0; m < n; m++) {
        Box *box = &start_boxes[m];
        started &= scanf("%d %d %d %d", &box->left, &box->bottom, &box->right, &box->top) == 4;
        box->b = (box->bottom - base[m]) / step; box->t = (box->top + 1 - base[m]) / step - 1;
        box->l = nearest_left(m, box->left);
    }
    if (started) { memcpy(now, start_boxes, sizeof(Box) * n); keep_if_best(total_cost()); }
    double start = seconds_now(), until = start;
    for (int run = 0; run < RUNS; run++) {
        const Run *r = &plan[run];
        until += seconds * r->share;
        if (r->from_best && best_cost < INT64_MAX) memcpy(now, best, sizeof(Box) * n);
        else for (int m = 0; m < n; m++) if (!anywhere(m, &now[m])) return 2;
        anneal(until, mean * r->hot, mean * 0.2, mean * r->price, mean * r->last_price);
        fprintf(stderr, "run %d: best %.1f\n", run, best_cost == INT64_MAX ? -1.0 : best_cost / 2.0);
    }
    if (best_cost == INT64_MAX) return 3;
    descend();
    printf("%lld\n", (long long)best_cost);
    for (int m = 0; m < n; m++) printf("%d %d %d %d\n", best[m].left, best[m].bottom, best[m].right, best[m].top);
    printf("%ld\n", moves);
    return 0;
}
