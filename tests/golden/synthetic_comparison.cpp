#include "synthetic_comparison.h"

#include "support/error.h"

#include <utility>
#include <vector>

namespace plumb::synthetic {

namespace {

constexpr size_t kRuns = 5;

struct Build {
    bool is_new = false;
    bool has_sources = true;
    std::string function = "heat::step", call = "MPI_Allreduce", text = "t = t + dt * k;";
    std::string title = "heat allocates a buffer in every step";
};

ComparedPlace place_of(const Build& build, const std::string& function, uint32_t line, const std::string& text) {
    ComparedPlace place{function, "heat", "heat.f90", line, build.has_sources ? text : "", 0, {}};
    if (!build.has_sources)
        place.why_no_text = "cannot be read here";
    return place;
}

CallTreeNode node(const std::string& name, TimeClass kind, double seconds, std::vector<CallTreeNode> children = {}) {
    return {name, "heat", kind, seconds, std::move(children)};
}

// Seconds of the run scatter by a few per mille from one to the next.
RunFigures run_of(const Build& build, size_t number) {
    const double off = 1 + 0.001 * static_cast<double>(number), step_s = (build.is_new ? 9.0 : 6.0) * off, rest_s = 2.0 * off;
    const uint32_t moved = build.is_new ? 12 : 0;
    RunFigures run;
    run.program = build.is_new ? "./heat-new 512" : "./heat 512";
    run.wall_s = run.cpu_s = step_s + rest_s;
    run.metrics = {{"parallel efficiency", build.is_new ? 0.71 : 0.93}, {"context switches", 1200 * off}};
    run.units = {{"parallel efficiency", "fraction"}, {"context switches", "per second"}};
    run.build_ids = {{"heat", build.is_new ? "b" : "a"}};
    run.lines = {{place_of(build, build.function, 40 + moved, build.text), step_s},
                 {place_of(build, "heat::edge", 80 + moved, "call exchange(t)"), rest_s}};
    run.functions_s = {{build.function, step_s}, {"heat::edge", rest_s}};
    run.libraries_s = {{"heat", step_s + rest_s}};
    run.allocations = {{place_of(build, build.function, 38 + moved, "allocate(k(n))"), build.is_new ? 20'000.0 : 10'000.0,
                        build.is_new ? 20'000.0 * 4096 : 10'000.0 * 4096}};
    run.allocations_are_exact = true;
    run.mpi_sites = {{place_of(build, build.function, 44 + moved, "call mpi_allreduce(e)"), build.call,
                      build.is_new ? 800.0 : 400.0, 6400, 0.5 * off}};
    run.source_texts["heat.f90"] = {build.text, "call exchange(t)", "allocate(k(n))", "call mpi_allreduce(e)"};
    run.findings["heap-temporary in heat::step"] = {build.title, build.is_new ? 0.2 : 0.1, Severity::medium};
    run.findings[build.is_new ? "load-imbalance: job 0" : "page-size: variable t"] = {
        build.is_new ? "Rank 3 computes more than the others" : "t lies on small pages", 0.1, Severity::high};
    run.call_tree = node("", TimeClass::computing, run.cpu_s,
                         {node("main", TimeClass::computing, run.cpu_s,
                               {node(build.function, TimeClass::computing, step_s,
                                     build.is_new ? std::vector{node("heat::refine", TimeClass::computing, 2.5 * off)}
                                                  : std::vector<CallTreeNode>{}),
                                node("heat::edge", TimeClass::mpi, rest_s)})});
    return run;
}

std::vector<RunFigures> runs_of(const Build& build, size_t count) {
    std::vector<RunFigures> runs;
    while (runs.size() < count)
        runs.push_back(run_of(build, runs.size()));
    return runs;
}

} // namespace

bool is_comparison(const std::string& kind) { return kind.starts_with("comparison"); }

Comparison make_comparison(const std::string& kind) {
    Build base, other;
    if (kind == "comparison-hostile")
        for (std::string* name : {&base.function, &base.call, &base.title, &base.text})
            *name = "</script><img src=x onerror=alert(1)> \x1b[31m \"'&\xff" + *name;
    else if (kind == "comparison-few")
        base.has_sources = false;
    else if (kind != "comparison")
        throw Error("there is no synthetic comparison \"" + kind + "\"");
    other = base;
    other.is_new = true;
    const size_t runs = kind == "comparison-few" ? 1 : kRuns;
    return compare_runs(runs_of(base, runs), runs_of(other, runs));
}

} // namespace plumb::synthetic
