#include "commands/watch_system.h"

#include "analysis/analyse_run.h"
#include "record/run/end_signals.h"
#include "reports/json/system_history.h"
#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

namespace plumb {

namespace {

constexpr double kLeastLine_s = 0.1; // a signal may end an interval that has just begun

uint64_t clock_now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

class TemporaryDirectory { // for one interval's records
  public:
    TemporaryDirectory() {
        const char* const folder = std::getenv("TMPDIR");
        path_ = std::string(folder && *folder ? folder : "/tmp") + "/plumb-system-XXXXXX";
        if (!mkdtemp(path_.data()))
            throw Error(fmt::format("cannot make the directory {}: {}", path_, std::strerror(errno)));
    }
    ~TemporaryDirectory() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

int open_history(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0)
        throw Error(fmt::format("cannot write the history {}: {}", path, std::strerror(errno)));
    return file;
}

// Opened for each line: the file may have been moved away meanwhile. Half a line that a crash left there is ended first.
void append_line(const std::string& path, std::string line) {
    const int file = open_history(path);
    char last = '\n';
    const off_t size = lseek(file, 0, SEEK_END);
    if (size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n')
        line.insert(0, 1, '\n');
    line += '\n';
    const ssize_t written = write(file, line.data(), line.size());
    const int error = written < 0 ? errno : ENOSPC;
    close(file);
    if (written != static_cast<ssize_t>(line.size()))
        throw Error(fmt::format("cannot write the history {}: {}", path, std::strerror(error)));
}

} // namespace

void watch_system(const record::SystemOptions& options, const std::string& history, uint64_t most_ns) {
    const record::EndSignals signals; // blocked also while a line is written
    close(open_history(history));     // whether that works is known at once
    const uint64_t begin_ns = clock_now_ns();
    for (bool goes_on = true; goes_on;) {
        const TemporaryDirectory folder;
        record::SystemOptions interval = options;
        interval.run_directory = folder.path() + "/interval";
        const uint64_t passed_ns = clock_now_ns() - begin_ns;
        if (most_ns > 0)
            interval.time_ns = std::min(interval.time_ns, most_ns - std::min(most_ns, passed_ns));
        goes_on = !record::record_system(interval).ended_early;
        goes_on = goes_on && (most_ns == 0 || clock_now_ns() - begin_ns < most_ns);
        const AnalysedRun analysed = analyse_run(interval.run_directory, {});
        if (analysed.report.system && analysed.report.system->seconds >= kLeastLine_s)
            append_line(history, history_line(analysed.report));
    }
}

} // namespace plumb
