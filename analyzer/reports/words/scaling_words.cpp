#include "reports/words/scaling_words.h"

#include "reports/words/comparison_words.h"
#include "scale/bandwidth_limit.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

using namespace scale;

constexpr double kMostDeviation = 0.1; // of a law that describes a curve
constexpr size_t kMostNamedPoints = 3;

std::string plural_of(Axis axis) { return axis == Axis::size ? "sizes" : name_of(axis); }

std::string percent_range(const Interval& range) {
    return fmt::format("{} to {}", format_fraction(range.low), format_fraction(range.high));
}

const ScalePoint& last_of(const Scaling& scaling) {
    size_t last = *scaling.first;
    for (size_t i = 0; i < scaling.points.size(); ++i)
        if (scaling.points[i].time_s)
            last = i;
    return scaling.points[last];
}

std::string best_sentence(const Scaling& scaling) {
    const ScalePoint& best = scaling.points[*scaling.best];
    const std::string name = point_words(scaling.axis, best.at);
    const std::string what = scaling.axis == Axis::copies ? "do the most work a second" : "take the least time";
    const std::string verb =
        best.at.value == 1 ? (scaling.axis == Axis::copies ? "does the most work a second" : "takes the least time") : what;
    if (!scaling.best_is_known)
        return fmt::format(
            "{} {} by the median. With so few runs it cannot be said which differences are chance: four runs of each are "
            "enough.",
            name, verb);
    if (scaling.alike.empty())
        return fmt::format("{} {}.", name, verb);
    std::string others;
    for (size_t i = 0; i < std::min(scaling.alike.size(), kMostNamedPoints); ++i) {
        const ScalePoint& other = scaling.points[scaling.alike[i]];
        others += fmt::format("{}{} ({} of time for the same work)", i > 0 ? ", " : "", point_words(scaling.axis, other.at),
                              change_words(work_between(scaling.axis, best, other)));
    }
    const bool has_fewer = std::ranges::any_of(
        scaling.points, [&](const ScalePoint& point) { return point.time_s && point.at.value < best.at.value; });
    return fmt::format("{} {}, or others do: cannot tell it apart from {}.{}", name, verb, others,
                       has_fewer ? " Fewer are certainly slower." : "");
}

std::string amdahl_words(const CurveFit& fit) {
    if (fit.usl.contention <= 0)
        return "no part that only one at a time can do";
    return fmt::format("a part of {} that only one at a time can do ({})", format_fraction(fit.usl.contention),
                       percent_range(fit.contention_95));
}

std::string coherence_words(const Scaling& scaling, const CurveFit& fit) {
    if (fit.usl.coherence <= 0 || fit.coherence_95.low <= 0)
        return "; a cost of each part for each other one is not certain";
    const double peak = std::sqrt(std::max(1 - fit.usl.contention, 0.0) / fit.usl.coherence);
    return fmt::format("; each costs each other one {} more ({}), so that more than about {} {} are slower",
                       format_fraction(fit.usl.coherence), percent_range(fit.coherence_95),
                       three_digits(std::max(1.0, std::round(peak))), plural_of(scaling.axis));
}

std::string saturation_words(const Scaling& scaling, const CurveFit& fit) {
    return fmt::format("something that all share serves {} of them at full speed ({} to {}), and no more: the CPUs, or the "
                       "bandwidth of memory",
                       three_digits(fit.saturation->served()) + " " + plural_of(scaling.axis), three_digits(fit.served_95.low),
                       three_digits(fit.served_95.high));
}

std::string law_sentence(const Scaling& scaling) {
    if (!scaling.fit)
        return fmt::format("The law of the curve is not known: it takes four different numbers of {}.", plural_of(scaling.axis));
    const CurveFit& fit = *scaling.fit;
    if (fit.worst_deviation > kMostDeviation)
        return fmt::format("No law describes the curve: contention and coherence (USL), or a shared resource that is full, "
                           "deviate from it by {}.",
                           format_fraction(fit.worst_deviation));
    const std::string usl = amdahl_words(fit) + coherence_words(scaling, fit);
    const std::string within = fmt::format(" (within {} of the medians)", format_fraction(fit.worst_deviation));
    switch (fit.law) {
    case Law::usl:
        return fmt::format("Law of the curve{}: {}.", within, usl);
    case Law::saturation:
        return fmt::format("Law of the curve{}: {}.", within, saturation_words(scaling, fit));
    case Law::cannot_tell:
        break;
    }
    return fit.saturation ? fmt::format("Cannot tell which law the curve follows{}: either {}; or {}.", within, usl,
                                        saturation_words(scaling, fit))
                          : fmt::format("Law of the curve{}: {}.", within, usl);
}

std::string bandwidth_sentence(const Scaling& scaling) {
    const ScalePoint& point = scaling.points[*scaling.bandwidth_limit];
    const BandwidthSummary& memory = *point.bandwidth;
    const std::string threads = fmt::format("{} threads", std::lround(memory.threads));
    std::string loops = "loops over large arrays";
    if (const std::string place = place_of(memory); !place.empty())
        loops += fmt::format(", most of all {},", place);
    return fmt::format("With {} memory bandwidth is the limit: {} take {} of the time and move {} a second, {} of what {} moved "
                       "in a test on these CPUs after the runs. There, {} moved {} times as much as one.",
                       point_words(scaling.axis, point.at), loops, format_fraction(memory.time_fraction),
                       format_bytes(memory.bytes_per_s), format_fraction(memory.roof_fraction), threads, threads,
                       three_digits(memory.roof_times_one_thread));
}

std::string exponent_sentence(const Scaling& scaling) {
    if (!scaling.exponent)
        return "How the time grows with the size is not known: three sizes are enough for it.";
    return fmt::format("The time grows as the size to the power of {} ({} to {}).", three_digits(scaling.exponent->exponent),
                       three_digits(scaling.exponent->exponent_95.low), three_digits(scaling.exponent->exponent_95.high));
}

std::string copies_sentence(const Scaling& scaling) {
    const ScalePoint& first = scaling.points[*scaling.first];
    const ScalePoint& last = last_of(scaling);
    if (&first == &last)
        return {};
    const std::string among = point_words(scaling.axis, last.at), alone = point_words(scaling.axis, first.at);
    if (!last.to_first.is_known)
        return fmt::format("With {} a copy takes {} times as long as with {}.", among, three_digits(last.to_first.ratio),
                           alone);
    if (!last.to_first.is_certain())
        return fmt::format("Cannot tell whether copies slow each other: with {} a copy takes {} against {}.", among,
                           change_words(last.to_first), alone);
    return fmt::format("With {} a copy takes {} times as long ({} to {}) as with {}.", among, three_digits(last.to_first.ratio),
                       three_digits(last.to_first.low), three_digits(last.to_first.high), alone);
}

std::string grown_words(const GrownAmount& one) {
    std::string words = fmt::format("{} {}", one.name, shift_words(one.seconds));
    if (!one.place.empty())
        words += ", most at " + one.place;
    return words;
}

std::string growth_sentence(const Scaling& scaling) {
    const Growth& growth = *scaling.growth;
    const ScalePoint& from = scaling.points[growth.from];
    const ScalePoint& to = scaling.points[growth.to];
    const std::string begin = fmt::format("From {} to {}", from.at.text, point_words(scaling.axis, to.at));
    const char* const whose = scaling.axis == Axis::copies ? "thread time of a copy" : "thread time of the run";
    if (!growth.thread_s.is_known)
        return fmt::format("{} the {} changes by {}; with so few runs it cannot be said what of it is chance.", begin, whose,
                           shift_words(growth.thread_s));
    const bool has_class = !growth.classes.empty() && growth.classes.front().grows,
               has_line = !growth.lines.empty() && growth.lines.front().grows;
    if (!has_class && !has_line)
        return fmt::format("{} nothing is known to grow: the {} changes by {}.", begin, whose, shift_words(growth.thread_s));
    std::string sentence = fmt::format("{} the {} changes by {}", begin, whose, shift_words(growth.thread_s));
    if (has_class)
        sentence += "; the most by: " + grown_words(growth.classes.front());
    if (has_line)
        sentence += "; of all lines the most by " + grown_words(growth.lines.front());
    sentence += ".";
    const auto titled = [](const std::vector<GrownAmount>& amounts) {
        return std::ranges::find_if(amounts, [](const GrownAmount& one) { return one.grows && !one.title.empty(); });
    };
    if (const auto line = titled(growth.lines); line != growth.lines.end())
        sentence += fmt::format(" Found there: {}.", line->title);
    else if (const auto one = titled(growth.classes); one != growth.classes.end())
        sentence += fmt::format(" Found there: {}.", one->title);
    else if (!growth.findings.empty())
        sentence +=
            fmt::format(" New in the report of {}: {}.", point_words(scaling.axis, to.at), growth.findings.front().title);
    return sentence;
}

} // namespace

std::string point_words(Axis axis, const PointValue& point) {
    switch (axis) {
    case Axis::threads: return point.text + (point.value == 1 ? " thread" : " threads");
    case Axis::ranks: return point.text + (point.value == 1 ? " rank" : " ranks");
    case Axis::copies: return point.text + (point.value == 1 ? " copy" : " copies");
    case Axis::size: break;
    }
    return "size " + point.text;
}

std::vector<std::string> scaling_sentences(const Scaling& scaling) {
    std::vector<std::string> sentences;
    if (!scaling.first)
        return sentences;
    if (scaling.axis == Axis::size)
        sentences.push_back(exponent_sentence(scaling));
    else
        sentences.push_back(best_sentence(scaling));
    if (scaling.axis == Axis::copies)
        if (const std::string copies = copies_sentence(scaling); !copies.empty())
            sentences.push_back(copies);
    if (scaling.axis != Axis::size)
        sentences.push_back(law_sentence(scaling));
    if (scaling.bandwidth_limit)
        sentences.push_back(bandwidth_sentence(scaling));
    const ScalePoint& last = last_of(scaling);
    if (scaling.axis != Axis::size && last.at.value > static_cast<double>(scaling.cpus))
        sentences.push_back(fmt::format("{} are more than the {} that the runs may use.", point_words(scaling.axis, last.at),
                                        counted(scaling.cpus, "CPU", "CPUs")));
    if (scaling.growth)
        sentences.push_back(growth_sentence(scaling));
    return sentences;
}

} // namespace plumb
