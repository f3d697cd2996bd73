// Drives the clocks and resets of a bench. Arguments: name=value of its settings, times in nanoseconds.
#include "Vbench.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

static std::map<std::string, long> given;
static long value(const std::string &name, long otherwise) {
    auto found = given.find(name);
    return found == given.end() ? otherwise : found->second;
}
static bool within(long now, const char *name) {
    long from = value(std::string(name) + "_from", -1);
    return from >= 0 && now >= from && now < from + value(std::string(name) + "_for", 0);
}

int main(int argc, char **argv) {
    VerilatedContext context;
    context.randReset(2);
    context.randSeed(7);
    for (int n = 1; n < argc; n++) {
        std::string text = argv[n];
        auto at = text.find('=');
        given[text.substr(0, at)] = std::atol(text.c_str() + at + 1);
    }
    Vbench bench{&context};
    const long until = value("until", 1000) * 1000;
    // Half periods in picoseconds: the cards' clocks and that of the link.
    const long half[3] = {value("half0", 2500), value("half1", 2500), value("half2", 1667)};
    long next[3] = {half[0], half[1] / 2, half[2] / 3};
    bench.odds_in = value("odds_in", 256);
    bench.odds_out = value("odds_out", 256);
    bench.odds_link = value("odds_link", 256);
    bench.latency = value("latency", 100);
    bench.most = value("most", 1000);
    bench.idle = value("idle", 0);
    bench.held = value("held", 0);
    while (true) {
        int which = 0;
        for (int n = 1; n < 3; n++)
            if (next[n] < next[which]) which = n;
        const long now = next[which];
        if (now > until) break;
        next[which] += half[which];
        bench.stop = within(now / 1000, "stop");
        bench.flip = within(now / 1000, "flip");
        bench.rst_n_0 = now / 1000 >= value("start0", 50) && !within(now / 1000, "again");
        bench.rst_n_1 = now / 1000 >= value("start1", 50) && !within(now / 1000, "again") && !within(now / 1000, "alone");
        bench.rst_n_2 = now / 1000 >= value("start2", 30) && !within(now / 1000, "again");
        CData *clocks[3] = {&bench.clk_0, &bench.clk_1, &bench.clk_2};
        *clocks[which] = !*clocks[which];
        bench.test = within(now / 1000, "test");
        bench.eval();
    }
    bench.final();
    return 0;
}
