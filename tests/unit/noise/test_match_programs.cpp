// Whose each loss of a CPU was, of programs that take it in turns: what was planted is known.
#include "noise/match_programs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace plumb::noise;

namespace {

constexpr uint64_t kSecond_ns = 1'000'000'000;
constexpr uint32_t kHidden = 99; // a program that no look sees

// Losses of a CPU with who made them, and looks a second apart that count CPU time in ticks, as the kernel does.
class PlantedLosses {
  public:
    PlantedLosses(double seconds, uint32_t programs) : seconds_(seconds), used_s_(programs) {}

    // `cpu_s` of a program, in slices of 4 ms; the run has the CPU for half a millisecond in between.
    void event(uint32_t program, double begin_s, double cpu_s) {
        for (double rest_s = cpu_s; rest_s > 1e-9; rest_s -= 4e-3) {
            piece(program, begin_s, std::min(rest_s, 4e-3));
            begin_s += 4.5e-3;
        }
    }
    void piece(uint32_t program, double begin_s, double length_s) {
        if (begin_s + length_s < seconds_)
            planted_.push_back({begin_s, length_s, program});
    }
    void use(uint32_t program, double at_s, double cpu_s) { extra_.push_back({at_s, cpu_s, program}); }

    void match() {
        std::ranges::sort(planted_, {}, &Planted::begin_s);
        std::vector<LostPiece> pieces;
        for (const Planted& one : planted_)
            pieces.push_back({to_ns(one.begin_s), to_ns(one.begin_s + one.length_s)});
        std::vector<uint64_t> looks_ns;
        for (uint64_t look = 0; look <= static_cast<uint64_t>(seconds_); ++look)
            looks_ns.push_back(look * kSecond_ns);
        for (uint32_t program = 0; program < used_s_.size(); ++program)
            used_s_[program] = counted(program, looks_ns.size() - 1);
        whose_ = match_programs(pieces, looks_ns, used_s_);
    }

    double taken_s(uint32_t by, uint32_t planted) const { // what was said to be `by`, and is `planted`
        double sum_s = 0;
        for (size_t i = 0; i < planted_.size(); ++i)
            sum_s += whose_[i] == by && planted_[i].program == planted ? planted_[i].length_s : 0;
        return sum_s;
    }
    double named_s(uint32_t by) const {
        double sum_s = 0;
        for (size_t i = 0; i < planted_.size(); ++i)
            sum_s += whose_[i] == by ? planted_[i].length_s : 0;
        return sum_s;
    }
    double planted_s(uint32_t program) const {
        double sum_s = 0;
        for (const Planted& one : planted_)
            sum_s += one.program == program ? one.length_s : 0;
        return sum_s;
    }

  private:
    struct Planted {
        double begin_s, length_s;
        uint32_t program;
    };
    static uint64_t to_ns(double seconds) { return static_cast<uint64_t>(std::llround(seconds * 1e9)); }

    // Up to each look what was used, in whole ticks.
    std::vector<double> counted(uint32_t program, size_t looks) const {
        std::vector<double> result;
        double before_s = 0;
        for (size_t look = 1; look <= looks; ++look) {
            double until_s = 0;
            for (const auto* list : {&planted_, &extra_})
                for (const Planted& one : *list)
                    if (one.program == program)
                        until_s += std::clamp(static_cast<double>(look) - one.begin_s, 0.0, one.length_s);
            until_s = std::floor(until_s * 100) / 100;
            result.push_back(until_s - before_s);
            before_s = until_s;
        }
        return result;
    }

    double seconds_;
    std::vector<Planted> planted_, extra_;
    std::vector<std::vector<double>> used_s_;
    std::vector<uint32_t> whose_;
};

void add_daemon(PlantedLosses& losses, uint32_t program, double seconds, double period_s, double cpu_s, double first_s = 0.1) {
    for (double at_s = first_s; at_s < seconds - cpu_s; at_s += period_s)
        losses.event(program, at_s, cpu_s);
}

// Compilers that start and end at any time: a few a second for half of the seconds.
void add_compilers(PlantedLosses& losses, uint32_t program, double seconds) {
    std::minstd_rand random(5);
    std::uniform_real_distribution<double> length_s(0.01, 0.15), wait_s(0.05, 0.6);
    for (double at_s = 0.3; at_s < seconds - 0.5; at_s += wait_s(random)) {
        if (static_cast<int>(at_s) / 2 % 2)
            continue;
        const double cpu_s = length_s(random);
        losses.event(program, at_s, cpu_s);
        at_s += cpu_s * 1.2;
    }
}

} // namespace

TEST_CASE("a daemon alone, beside a program with a little CPU time in each look") {
    PlantedLosses losses(10, 2);
    add_daemon(losses, 0, 10, 0.5, 0.02);
    for (int second = 0; second < 10; ++second)
        losses.use(1, second + 0.5, 0.012); // on the same CPU while the run had nothing to do
    losses.match();
    CHECK(losses.named_s(0) == Approx(losses.planted_s(0)).epsilon(0.06));
    CHECK(losses.named_s(1) == 0);
}

TEST_CASE("a daemon beside compilers that come and go") {
    PlantedLosses losses(20, 2);
    add_daemon(losses, 0, 20, 0.5, 0.02);
    add_compilers(losses, 1, 20);
    losses.match();
    CHECK(losses.taken_s(0, 0) > 0.6 * losses.planted_s(0)); // some are within a burst of a compiler
    CHECK(losses.taken_s(0, 1) < 0.15 * losses.named_s(0));
    CHECK(losses.taken_s(1, 0) < 0.15 * losses.named_s(1));
    CHECK(losses.named_s(0) <= losses.planted_s(0) + 0.02);
}

TEST_CASE("a daemon beside compilers that no look sees is named, and has none of theirs") {
    PlantedLosses losses(20, 2);
    add_daemon(losses, 0, 20, 0.5, 0.02);
    add_compilers(losses, kHidden, 20);
    losses.use(1, 3, 0.05); // some other program
    losses.match();
    CHECK(losses.taken_s(0, 0) > 0.6 * losses.planted_s(0));
    CHECK(losses.taken_s(0, kHidden) < 0.15 * losses.named_s(0));
    CHECK(losses.named_s(1) == 0);
}

TEST_CASE("two daemons of different periods") {
    PlantedLosses losses(10, 2);
    add_daemon(losses, 0, 10, 0.5, 0.02);
    add_daemon(losses, 1, 10, 0.31, 0.005, 0.23);
    losses.match();
    CHECK(losses.taken_s(0, 0) > 0.85 * losses.planted_s(0));
    CHECK(losses.taken_s(1, 1) > 0.75 * losses.planted_s(1));
    CHECK(losses.taken_s(0, 1) + losses.taken_s(1, 0) <= 3 * 0.005 + 1e-9); // three of its 32 events are one burst with one of the other's
}

TEST_CASE("two daemons that cannot be distinguished have nothing alone") {
    SECTION("the same lengths") {
        PlantedLosses losses(10, 2);
        add_daemon(losses, 0, 10, 0.5, 0.02);
        add_daemon(losses, 1, 10, 0.5, 0.02, 0.35);
        losses.match();
        CHECK(losses.named_s(0) + losses.named_s(1) == 0);
    }
    SECTION("other lengths, but as much CPU time in each look") {
        PlantedLosses losses(10, 2);
        add_daemon(losses, 0, 10, 0.5, 0.02);
        add_daemon(losses, 1, 10, 0.125, 0.005, 0.06);
        losses.match();
        CHECK(losses.named_s(0) + losses.named_s(1) == 0);
    }
    SECTION("one of them runs only while the run does not want the CPU") {
        PlantedLosses losses(10, 2);
        add_daemon(losses, 0, 10, 0.5, 0.02);
        for (int second = 0; second < 10; ++second)
            losses.use(1, second + 0.5, 0.04);
        losses.match();
        CHECK(losses.named_s(0) + losses.named_s(1) == 0);
    }
    SECTION("of two with as much CPU time, one is seen: either could be its") {
        PlantedLosses losses(10, 2);
        add_daemon(losses, 0, 10, 0.5, 0.02);
        add_daemon(losses, kHidden, 10, 0.125, 0.005, 0.06);
        losses.use(1, 3, 0.05);
        losses.match();
        CHECK(losses.named_s(0) == 0);
    }
}

TEST_CASE("a daemon beside a program that takes the CPU all the time: slices that the scheduler cut are nobody's") {
    PlantedLosses losses(10, 2);
    std::minstd_rand random(3);
    std::uniform_real_distribution<double> turn_s(0.005, 0.008);
    for (double at_s = 0.01, next_s = 0.1, rest_s = 0; at_s < 9.99;) {
        if (rest_s <= 0 && at_s >= next_s) {
            next_s += 0.5;
            rest_s = 0.02;
        }
        const double length_s = rest_s > 0 ? std::min(rest_s, turn_s(random)) : 0.003; // the other waits meanwhile
        losses.piece(rest_s > 0 ? 0 : 1, at_s, length_s);
        rest_s -= length_s;
        at_s += length_s + 0.003;
    }
    losses.match();
    CHECK(losses.named_s(0) + losses.named_s(1) == 0);
}

TEST_CASE("a program that did not run meanwhile has nothing, and nobody more than it used") {
    PlantedLosses losses(12, 2);
    losses.use(1, 3, 0.05);
    add_daemon(losses, 0, 10, 0.5, 0.02);
    SECTION("two events of another, of the same length") {
        add_daemon(losses, kHidden, 12, 0.5, 0.02, 11.1);
        losses.match();
        CHECK(losses.taken_s(0, 0) > 0.9 * losses.planted_s(0));
        CHECK(losses.taken_s(0, kHidden) == 0);
    }
    SECTION("many: which are whose is not clear") {
        add_daemon(losses, kHidden, 12, 1.3, 0.02, 0.3);
        losses.match();
        CHECK(losses.named_s(0) == 0);
    }
}

TEST_CASE("where others have the CPU for most of the time, what looks like a program's events is not its own") {
    PlantedLosses losses(10, 2);
    losses.use(1, 3, 0.05);
    add_daemon(losses, 0, 10, 0.5, 0.02);
    for (double at_s = 0.13; at_s < 10; at_s += 0.5) // the rest of the time but the daemon's and a little more
        losses.piece(kHidden, at_s, 0.36);
    losses.match();
    CHECK(losses.named_s(0) == 0);
}

TEST_CASE("where many programs take the CPU at any time and for any length, nobody is picked") {
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        PlantedLosses losses(20, 3);
        std::minstd_rand random(seed);
        std::uniform_real_distribution<double> length_s(0.002, 0.08), wait_s(0, 0.06);
        std::discrete_distribution<uint32_t> whose({1, 2, 3, 4});
        for (double at_s = 0.3; at_s < 19.5;) {
            const uint32_t program = whose(random);
            const double cpu_s = length_s(random);
            losses.event(program == 3 ? kHidden : program, at_s, cpu_s);
            at_s += cpu_s * 1.2 + wait_s(random);
        }
        losses.match();
        double wrong_s = 0, all_s = losses.planted_s(kHidden);
        for (uint32_t program = 0; program < 3; ++program) {
            wrong_s += losses.named_s(program) - losses.taken_s(program, program);
            all_s += losses.planted_s(program);
        }
        INFO("seed " << seed);
        CHECK(wrong_s < 0.1 * all_s);
    }
}

TEST_CASE("too few looks say nothing") {
    PlantedLosses losses(3, 2);
    add_daemon(losses, 0, 3, 0.5, 0.02);
    add_daemon(losses, 1, 3, 0.31, 0.005, 0.23);
    losses.match();
    CHECK(losses.named_s(0) + losses.named_s(1) == 0);
}
