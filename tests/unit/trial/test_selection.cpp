// Which cures are tried, what is promised of them, and which go together.
#include "support/error.h"
#include "trial/selection.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::trial;

namespace {

std::vector<Cure> some_cures() {
    Cure fast{
        .id = "fast", .what = "w", .family = "allocator", .takes = "malloc", .change = {}, .answers = {"LD_PRELOAD=libfast"}};
    Cure faster = fast;
    faster.id = "faster";
    Cure pages{.id = "pages", .what = "w", .family = "pages", .needs = "malloc", .change = {}, .answers = {"hugetlb"}};
    Cure pin{.id = "pin", .what = "w", .family = "placement", .change = {}, .answers = {"--pin=scatter"}};
    Cure missing{.id = "missing",
                 .what = "w",
                 .family = "x",
                 .change = {},
                 .answers = {"LD_PRELOAD=libfast"},
                 .why_not = "not installed"};
    Cure heavy{.id = "heavy", .what = "w", .family = "y", .change = {}, .why_tried = "a figure"};
    return {pin, fast, faster, pages, missing, heavy};
}

Finding finding_of(const char* id, double gain, Advice advice) {
    Finding finding;
    finding.id = id;
    finding.gain.fraction = gain;
    finding.advice = {std::move(advice)};
    return finding;
}

std::vector<std::string> tried(const std::vector<CureOutcome>& outcomes) {
    std::vector<std::string> ids;
    for (const CureOutcome& one : outcomes)
        if (one.state == State::measured)
            ids.push_back(one.cure.id);
    return ids;
}

CureOutcome measured(Cure cure, double gain, Verdict verdict) {
    CureOutcome one;
    one.cure = std::move(cure);
    one.state = State::measured;
    one.measured.decision.gain = gain;
    one.measured.decision.verdict = verdict;
    return one;
}

} // namespace

TEST_CASE("a finding promises its gain of the cures that its advice at launch means") {
    const std::vector<Finding> findings{finding_of("heap", 0.1, {"what", "how", "launch", "LD_PRELOAD=libfast.so plumb run"}),
                                        finding_of("cpu", 0.4, {"what", "how", "launch", "plumb run --pin=scatter -- x"}),
                                        finding_of("code", 0.9, {"what", "--pin=scatter hugetlb", "code", ""}),
                                        finding_of("heap", 0.3, {"what", "how", "launch", "LD_PRELOAD=libfast.so plumb run"})};
    const std::vector<CureOutcome> outcomes = select_cures(some_cures(), findings, {});
    CHECK(tried(outcomes) == std::vector<std::string>{"pin", "fast", "faster", "heavy"}); // by promise
    CHECK(outcomes[0].promise->gain == Approx(0.4));
    CHECK(outcomes[1].promise->gain == Approx(0.3)); // of the finding that promises most
    CHECK_FALSE(outcomes[3].promise);
    for (const CureOutcome& one : outcomes) {
        if (one.cure.id == "missing")
            CHECK((one.state == State::does_not_apply && one.why == "not installed"));
        if (one.cure.id == "pages")
            CHECK((one.state == State::not_tried && one.why == "nothing speaks for it"));
    }
}

TEST_CASE("the user may choose cures, or all that apply") {
    CHECK(tried(select_cures(some_cures(), {}, {})) == std::vector<std::string>{"heavy"});
    CHECK(tried(select_cures(some_cures(), {}, {true, {}})).size() == 5);
    const auto chosen = select_cures(some_cures(), {}, {false, {"pages", "missing"}});
    CHECK(tried(chosen) == std::vector<std::string>{"pages"});
    CHECK_THROWS_AS(select_cures(some_cures(), {}, {false, {"nosuch"}}), UsageError);
}

TEST_CASE("so many cures are tried as the time gives six rounds for") {
    CHECK(affordable(1, 60) == 7); // and the base three times
    CHECK(affordable(1, 24) == 3);
    CHECK(affordable(10, 60) == 1);
    CHECK(affordable(1000, 60) == 1);
    CHECK(affordable(1e-9, 600) == 1000);
}

TEST_CASE("the best together: of those that are better, none that a better one excludes") {
    const std::vector<Cure> cures = some_cures();
    const std::vector<CureOutcome> outcomes{measured(cures[0], 0.05, Verdict::better), measured(cures[1], 0.2, Verdict::better),
                                            measured(cures[2], 0.3, Verdict::better), measured(cures[3], 0.1, Verdict::better),
                                            measured(cures[5], 0.5, Verdict::undecided)};
    CHECK(best_together(outcomes) == std::vector<size_t>{2, 0}); // faster and pin: pages need what faster takes
    CHECK(best_together({measured(cures[0], -0.2, Verdict::worse), measured(cures[1], 0.01, Verdict::too_small)}).empty());
    CureOutcome failed = measured(cures[0], 0.5, Verdict::better);
    failed.state = State::failed;
    CHECK(best_together({failed}).empty());
}
