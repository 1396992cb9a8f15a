#include "compare/source_lines.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>

namespace plumb {

namespace {

constexpr uint64_t kNanoseconds = 1'000'000'000;

std::string without_folders(const std::string& path) { return path.substr(path.rfind('/') + 1); }

uint64_t modified_ns(const std::string& path) { // 0: there is no such file
    struct stat status{};
    if (stat(path.c_str(), &status) != 0)
        return 0;
    return static_cast<uint64_t>(status.st_mtim.tv_sec) * kNanoseconds + static_cast<uint64_t>(status.st_mtim.tv_nsec);
}

// No later than this the program was built: its file is no older, and it was there when the run began.
uint64_t built_before_ns(const model::Run& run, const std::string& module) {
    uint64_t latest = run.start_unix_ns;
    for (const model::Process& process : run.processes)
        for (const model::Module& one : process.modules)
            if (without_folders(one.path) == module)
                if (const uint64_t modified = modified_ns(one.path); modified > 0)
                    latest = std::min(latest, modified);
    return latest;
}

} // namespace

std::string folded_line(const std::string& line) {
    std::string folded;
    for (const char letter : line) {
        const bool is_space = letter == ' ' || (letter >= '\t' && letter <= '\r');
        if (!is_space)
            folded += letter;
        else if (!folded.empty() && folded.back() != ' ')
            folded += ' ';
    }
    if (folded.ends_with(' '))
        folded.pop_back();
    return folded;
}

SourceLines::SourceLines(const Report& report, std::vector<std::string> given)
    : run_(*report.run), files_(report.may_show_source), given_(std::move(given)) {}

const std::string& SourceLines::why_unusable(const std::string& file, const std::string& module) {
    const auto [entry, is_new] = unusable_.try_emplace({file, module});
    if (!is_new)
        return entry->second;
    const std::vector<std::string>& lines = files_.lines_of(file);
    const bool is_given = std::ranges::any_of(given_, [&](const std::string& folder) { return file.starts_with(folder); });
    if (lines.empty())
        entry->second = "cannot be read here";
    else if (!is_given && modified_ns(file) > built_before_ns(run_, module))
        entry->second = "changed since the build";
    else
        for (const std::string& line : lines)
            texts_[without_folders(file)].insert(folded_line(line));
    return entry->second;
}

ComparedPlace SourceLines::place_of(const model::SourceFrame& frame) {
    ComparedPlace place{frame.function, frame.module, without_folders(frame.file), frame.line, {}, 0, {}};
    if (frame.file.empty() || frame.line == 0)
        return place;
    place.why_no_text = why_unusable(frame.file, frame.module);
    if (!place.why_no_text.empty())
        return place;
    const std::vector<std::string>& lines = files_.lines_of(frame.file);
    if (frame.line > lines.size()) {
        place.why_no_text = "is shorter than the program says";
        return place;
    }
    const std::string text = folded_line(lines[frame.line - 1]);
    const auto has_text = [&](const std::string& line) { return folded_line(line) == text; };
    const auto at = lines.begin() + frame.line - 1;
    if (frame.function_line > 0 && frame.function_line <= frame.line)
        place.ordinal = static_cast<uint32_t>(std::count_if(lines.begin() + frame.function_line - 1, at, has_text));
    else if (std::ranges::count_if(lines, has_text) > 1) {
        place.why_no_text = "has lines of functions whose first line is not known";
        return place;
    }
    place.text = text.empty() ? " " : text; // a blank line that has code is odd, but known
    return place;
}

} // namespace plumb
