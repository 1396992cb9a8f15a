#include "scale/sweep.h"

#include "analyses/lines/launch_command.h"
#include "support/error.h"

#include <fmt/format.h>
#include <optional>

namespace plumb::scale {

namespace {

constexpr Axis kAxes[] = {Axis::threads, Axis::ranks, Axis::copies, Axis::size};

const std::string& list_of(const AskedPoints& asked, Axis axis) {
    switch (axis) {
    case Axis::threads: return asked.threads;
    case Axis::ranks: return asked.ranks;
    case Axis::copies: return asked.copies;
    case Axis::size: break;
    }
    return asked.size;
}

Axis axis_of(const std::vector<std::string>& words, const AskedPoints& asked) {
    std::optional<Axis> listed, held;
    for (const Axis axis : kAxes) {
        if (!list_of(asked, axis).empty()) {
            if (listed)
                throw Error(fmt::format("--{} and --{} at once: a sweep changes one of them", name_of(*listed), name_of(axis)));
            listed = axis;
        }
        if (holds(words, placeholder_of(axis))) {
            if (held && !listed)
                throw Error(fmt::format("the command holds {} and {}: a sweep changes one of them; name it by --{} or --{}",
                                        placeholder_of(*held), placeholder_of(axis), name_of(*held), name_of(axis)));
            held = axis;
        }
    }
    if (!listed)
        return held.value_or(Axis::threads);
    if ((*listed == Axis::ranks || *listed == Axis::size) && !holds(words, placeholder_of(*listed)))
        throw Error(
            fmt::format("--{} needs {} in the command or in --prepare, where the number goes", name_of(*listed), placeholder_of(*listed)));
    return *listed;
}

} // namespace

std::vector<std::string> copies_command(const std::vector<std::string>& words, size_t count) {
    std::string script = "p=; s=0; trap 'kill $p 2>/dev/null; exit 130' INT TERM\n"; // the shell lets copies ignore Ctrl-C
    for (size_t copy = 0; copy < count; ++copy)
        script += shell_line(filled(words, kCopy, std::to_string(copy))) + " & p=\"$p $!\"\n";
    return {"/bin/sh", "-c", script + "for i in $p; do wait $i || s=$?; done\nexit $s"};
}

Sweep sweep_of(const std::vector<std::string>& words, const AskedPoints& asked, size_t cpus, const std::string& prepare) {
    Sweep sweep;
    std::vector<std::string> all_words = words;
    all_words.push_back(prepare);
    sweep.axis = axis_of(all_words, asked);
    const std::string& list = list_of(asked, sweep.axis);
    if (list.empty() && sweep.axis == Axis::size)
        throw Error("{size} in the command needs --size LIST, as in --size 1000,2000,4000");
    sweep.points = list.empty() ? default_points(cpus) : parse_points(sweep.axis, list);
    sweep.is_by_environment = sweep.axis == Axis::threads && !holds(all_words, placeholder_of(Axis::threads));
    for (const PointValue& point : sweep.points) {
        repeat::SeriesCommand command{fmt::format("{}-{}", name_of(sweep.axis), point.text), {}};
        command.words = sweep.axis == Axis::copies ? copies_command(words, static_cast<size_t>(point.value))
                                                   : filled(words, placeholder_of(sweep.axis), point.text);
        command.prepare = filled({prepare}, placeholder_of(sweep.axis), point.text).front();
        if (sweep.is_by_environment)
            command.environment = {"OMP_NUM_THREADS=" + point.text};
        sweep.commands.push_back(std::move(command));
    }
    return sweep;
}

} // namespace plumb::scale
