#include "diagnoses/code/scalar_advice.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

using code::CarriedValue;
using code::Compiler;
using code::ScalarCause;

constexpr int kFirstGccAtO2 = 12; // that packs any loop at -O2
// What it costs to let sums be reordered.
constexpr const char* kReordered = "the result differs in its last digits, as it would with another order of the data";

bool is_fortran(const SampledLoop& loop) { return loop.compiler.language == Compiler::Language::fortran; }

bool carries(const SampledLoop& loop, CarriedValue::Kind kind) {
    return std::ranges::any_of(loop.facts.carried, [kind](const CarriedValue& value) { return value.scalar && value.kind == kind; });
}

// "sum", "product", "maximum or minimum"
const char* reduction_name(const SampledLoop& loop) {
    return carries(loop, CarriedValue::Kind::sum)       ? "sum"
           : carries(loop, CarriedValue::Kind::product) ? "product"
           : carries(loop, CarriedValue::Kind::extreme) ? "maximum or minimum"
                                                        : "running value";
}

std::string directive(const SampledLoop& loop, const std::string& clauses) {
    return fmt::format("{}omp simd{}", is_fortran(loop) ? "!$" : "#pragma ", clauses);
}

std::string option_before(const SampledLoop& loop) {
    return loop.compiler.has_options && !loop.compiler.vectorizes_loops ? "-O3 " : "";
}

Advice in_code(std::string what, std::string how) { return {std::move(what), std::move(how), "code", ""}; }

bool walks_at_run_time(const SampledLoop& loop) {
    return std::ranges::any_of(loop.facts.accesses.streams, [](const code::Stream& stream) {
        return stream.floating && stream.walk == code::Stream::Walk::run_time;
    });
}

std::vector<Advice> for_level(const SampledLoop& loop) {
    const Compiler& compiler = loop.compiler;
    if (compiler.level <= 1)
        return {in_code("Compile this file with -O3", fmt::format("it was compiled with {}, with which no loop is packed", compiler.level_name))};
    const bool packs_some = compiler.kind == Compiler::Kind::gcc && compiler.version >= kFirstGccAtO2;
    return {in_code("Compile this file with -O3",
                    packs_some ? fmt::format("at {} {} packs a loop only where the number of rounds is known and no second version of "
                                             "the loop is needed; with -O3 it checks at run time that the arrays are apart",
                                             compiler.level_name, compiler.name())
                               : fmt::format("{} packs no loops at {}", compiler.name(), compiler.level_name)),
            in_code(fmt::format("Or put `{}` in front of this loop alone", directive(loop, "")),
                    "and compile with -fopenmp-simd; it promises that the rounds are independent of one another")};
}

std::vector<Advice> for_order(const SampledLoop& loop) {
    const bool is_extreme = carries(loop, CarriedValue::Kind::extreme) && !carries(loop, CarriedValue::Kind::sum);
    const char* sign = carries(loop, CarriedValue::Kind::sum) ? "+" : is_extreme ? "max" : "*";
    std::vector<Advice> advice;
    if (carries(loop, CarriedValue::Kind::induction))
        advice.push_back(in_code("Compute the running value from the counter of the loop",
                                 "x = first + i * step instead of x += step: then no round needs the one before"));
    if (carries(loop, CarriedValue::Kind::sum) || carries(loop, CarriedValue::Kind::product) || is_extreme)
        advice.push_back(in_code(
            fmt::format("Put `{}` in front of the loop", directive(loop, fmt::format(" reduction({}:s)", sign))),
            fmt::format("with the variable's name for s{}, and compile with -fopenmp-simd; {}", is_extreme ? " (min for a minimum)" : "",
                        is_extreme ? "it promises that no element is NaN" : kReordered)));
    advice.push_back(is_extreme
        ? in_code(fmt::format("Or compile this file with {}-ffinite-math-only -fno-signed-zeros", option_before(loop)),
                  "the price: the compiler takes NaN and infinities to be impossible in all of the file")
        : in_code(fmt::format("Or compile this file with {}-fassociative-math -fno-signed-zeros -fno-trapping-math", option_before(loop)),
                  fmt::format("all sums of the file may be reordered: {}. -ffast-math does it as well, but its price is higher: NaN and "
                              "infinities are taken to be impossible", kReordered)));
    return advice;
}

std::vector<Advice> for_aliasing(const SampledLoop& loop) {
    if (is_fortran(loop))
        return {in_code("Pass the arrays as arguments without the attributes pointer and target",
                        "Fortran then promises that they are apart; or put `!$omp simd` in front of the loop and compile with "
                        "-fopenmp-simd")};
    const bool is_cpp = loop.compiler.language == Compiler::Language::cpp;
    return {in_code(fmt::format("Declare the pointers `{}`, if the arrays never overlap", is_cpp ? "__restrict" : "restrict"),
                    loop.facts.accesses.reloads_pointer
                        ? "and copy pointers that are members into local variables before the loop: it loads them in each round, because "
                          "a store might have changed them"
                        : fmt::format("{} pairs of arrays would have to be compared each time the loop begins, which is more than compilers "
                                      "do; or put `#pragma omp simd` in front of the loop and compile with -fopenmp-simd",
                                      code::pairs_to_check(loop.facts)))};
}

std::vector<Advice> for_call(const SampledLoop& loop) {
    const auto known = std::ranges::find_if(loop.callees, [](const std::string& name) { return !name.empty(); });
    const std::string name = known == loop.callees.end() ? "the function" : *known;
    if (loop.around.calls_library)
        return {loop.compiler.kind == Compiler::Kind::clang
                    ? in_code("Compile this file with -ffast-math -fveclib=libmvec",
                              fmt::format("clang then calls the C library's version of {} for several elements; its last digit may differ, and "
                                          "NaN, infinities and errno are not regarded", name))
                    : in_code("Compile this file with -O3 -ffast-math",
                              fmt::format("the compiler then calls the C library's version of {} for several elements (glibc 2.22 or newer, "
                                          "libmvec); its last digit may differ, and NaN, infinities and errno are not regarded", name))};
    return {in_code(fmt::format("Let the compiler see {} where the loop is", name),
                    "define it as static inline in the same file or in a header, or compile and link with -flto -O3; or declare it with "
                    "`#pragma omp declare simd` and put `#pragma omp simd` in front of the loop")};
}

std::vector<Advice> for_stride(const SampledLoop& loop) {
    std::vector<Advice> advice;
    const double touched = code::touched_share(loop.facts.accesses);
    if (walks_at_run_time(loop) && is_fortran(loop))
        advice.push_back(in_code("Declare the array arguments `contiguous`, if they are",
                                 "an assumed-shape array may be a section with gaps, so the compiler loads its elements one by one"));
    if (touched > 0.1 && !walks_at_run_time(loop))
        advice.push_back(in_code("Store each member in an array of its own",
                                 fmt::format("of the records that the loop passes, it uses {:.0f} %: with arrays instead of an array of "
                                             "records, elements that belong together are adjacent", 100 * touched)));
    else
        advice.push_back(in_code("Let the innermost loop run over adjacent elements",
                                 is_fortran(loop) ? "exchange the loops, so that the first index changes fastest, or store the array transposed"
                                                  : "exchange the loops, so that the last index changes fastest, or store the array transposed"));
    return advice;
}

} // namespace

std::string scalar_reason(ScalarCause cause, const SampledLoop& loop) {
    switch (cause) {
    case ScalarCause::level:
        return fmt::format("{} packs no such loop at {}", loop.compiler.name(), loop.compiler.level_name);
    case ScalarCause::order:
        return fmt::format("the order of its {} must be kept", reduction_name(loop));
    case ScalarCause::aliasing:
        return "its arrays may overlap";
    case ScalarCause::check_fails:
        return "the check that its arrays are apart fails";
    case ScalarCause::call: {
        const auto known = std::ranges::find_if(loop.callees, [](const std::string& name) { return !name.empty(); });
        return known == loop.callees.end() ? "it calls a function" : fmt::format("it calls {}", *known);
    }
    case ScalarCause::math_errno:
        return "its square roots may set errno";
    case ScalarCause::stride:
        return "its elements are not adjacent";
    case ScalarCause::gather:
        return "the places of its elements are loaded";
    case ScalarCause::conversion:
        return "integers of 64 bits are converted";
    case ScalarCause::condition:
        return "a condition is tested for each of them";
    case ScalarCause::recurrence:
        return "each round needs the result of the one before";
    case ScalarCause::none:
        break;
    }
    return "the cause is not known";
}

std::vector<Advice> scalar_advice(ScalarCause cause, const SampledLoop& loop) {
    switch (cause) {
    case ScalarCause::level:
        return for_level(loop);
    case ScalarCause::order:
        return for_order(loop);
    case ScalarCause::aliasing:
        return for_aliasing(loop);
    case ScalarCause::check_fails:
        return {in_code("Give the loop arrays that do not overlap",
                        "a packed version of the loop exists and is not entered. If the arrays only lie side by side in the same memory, "
                        "without common elements, `#pragma omp simd` says so; if elements are common, the slow version is the right one")};
    case ScalarCause::call:
        return for_call(loop);
    case ScalarCause::math_errno:
        return {in_code(fmt::format("Compile this file with {}-fno-math-errno", option_before(loop)),
                        "the price: errno is not set for roots of negative numbers, which are NaN all the same")};
    case ScalarCause::stride:
        return for_stride(loop);
    case ScalarCause::gather:
        return {in_code("Bring the elements into the order in which they are used",
                        "sort them by place, or copy them side by side before a loop that uses them several times. Vector instructions that "
                        "gather load them one by one, too, and gain little")};
    case ScalarCause::conversion:
        return {in_code("Use integers of 32 bits, or keep the numbers in floating point",
                        "only AVX-512 converts several integers of 64 bits at once (-O3 -march=x86-64-v4, on processors that have it)")};
    case ScalarCause::condition:
        return {in_code("Compute both results and choose",
                        is_fortran(loop) ? "y(i) = merge(a, y(i), condition) stores in each round, as packed code must"
                                         : "y[i] = condition ? a : y[i] stores in each round, as packed code must; then compile with -O3, or "
                                           "put `#pragma omp simd` in front of the loop and compile with -fopenmp-simd")};
    case ScalarCause::recurrence:
        return {in_code("Nothing in this loop alone",
                        "work on several independent series in one round, if there are, so that they wait side by side")};
    case ScalarCause::none:
        break;
    }
    return {};
}

} // namespace plumb
