#include "record/run/run_directory.h"

#include "platform/read_file.h"
#include "platform/redaction.h"
#include "record/build_config.h"
#include "record/run/held_file.h"
#include "record/run/node_trace_writer.h"
#include "support/error.h"
#include "support/start_up_memory.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <plumb/flag_scan_list.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace plumb::record {

namespace {

using nlohmann::json;

constexpr const char* kLockFile = ".lock";
constexpr const char* kHeldFile = ".lock-held"; // where there are no locks
constexpr const char* kJobFile = ".job";
constexpr size_t kMostJsonBytes = 64u << 20; // of run.json: it holds the command line

constexpr std::chrono::seconds kMostWait{30}; // for a lock that is held for milliseconds

// 16 random digits: unique where pids, start times and host names repeat (containers, images of one virtual machine).
std::string random_tag() {
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = realtime_ns() * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(getpid());
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
    return text;
}

// Of this machine since its start: containers on it have it in common, and two machines of one name have not.
std::string node_identity() {
    std::string id = platform::read_file("/proc/sys/kernel/random/boot_id").value_or("");
    std::erase_if(id, [](unsigned char c) { return !isxdigit(c); });
    return id.empty() ? host_name() : id;
}

bool no_locks_here(int error) { return error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP || error == EINVAL; }

// Serialises what the recorders of one run do to its directory, as long as it lives. Where the file system knows no
// locks, a file stands in (held_file.h); one that was left behind by a maker of whom nothing is known is waited for once.
class DirectoryLock {
  public:
    DirectoryLock(int directory, std::string& why_no_locks) : directory_(directory) {
        fd_ = openat(directory, kLockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd_ < 0)
            throw Error(std::string("cannot open the lock of the run directory: ") + strerror(errno));
        int error = 0;
        if (wait([&] { return flock(fd_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }, &error))
            return;
        if (!no_locks_here(error)) {
            close(fd_);
            throw Error("the run directory stayed locked for " + std::to_string(kMostWait.count()) +
                        " s: another plumb that records into it may be stopped");
        }
        why_no_locks = std::string("flock fails in the run directory: ") + strerror(error);
        is_file_ = wait([&] { return take_held_file(directory, kHeldFile); }, &error);
        if (!is_file_ && error == EWOULDBLOCK)
            release_held_file(directory, kHeldFile); // its maker was killed on another machine
    }
    ~DirectoryLock() {
        if (is_file_)
            release_held_file(directory_, kHeldFile);
        close(fd_);
    }
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

  private:
    // False: `error` says why; EWOULDBLOCK: somebody held it all the time.
    template <class Attempt> static bool wait(Attempt attempt, int* error) {
        const auto until = std::chrono::steady_clock::now() + kMostWait;
        for (auto pause = std::chrono::microseconds(100);; pause = std::min(pause * 2, std::chrono::microseconds(20'000))) {
            *error = attempt();
            if (*error == 0)
                return true;
            if (*error != EWOULDBLOCK && *error != EINTR)
                return false;
            if (std::chrono::steady_clock::now() >= until)
                return false;
            std::this_thread::sleep_for(pause);
        }
    }

    int directory_ = -1, fd_ = -1;
    bool is_file_ = false;
};

// All ranks have come: who comes now belongs to a later run, of the same job or of one with the same name.
bool is_complete(const json& run) {
    if (!run.is_object() || !run.contains("recorders"))
        return false;
    const json& recorders = run["recorders"];
    return recorders.value("started", 0) >= recorders.value("expected", 1);
}

// Of the directory that was opened and found to be ours, not of what stands at its path by now.
std::vector<std::string> list_files(int directory, const std::string& path) {
    const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // with a position of its own
    const std::unique_ptr<DIR, int (*)(DIR*)> list(copy < 0 ? nullptr : fdopendir(copy), closedir);
    if (!list)
        throw Error("cannot read the run directory " + path + ": " + strerror(errno));
    std::vector<std::string> names;
    while (const dirent* entry = readdir(list.get()))
        if (const std::string name = entry->d_name; name != "." && name != "..")
            names.push_back(name);
    return names;
}

std::string name_of_program(const std::string& prefix, const std::string& program) {
    std::string name = program.substr(program.rfind('/') + 1);
    std::ranges::replace_if(name, [](unsigned char c) { return !isalnum(c) && !strchr("._+-", c); }, '_');
    return prefix + name.substr(0, 64) + "-";
}

std::string default_name(const std::string& program, const JobIdentity& job) {
    if (!job.id.empty())
        return name_of_program("plumb-", program) + job.id; // all ranks must come to the same name
    return timed_name("plumb-", program);
}

} // namespace

std::string timed_name(const std::string& prefix, const std::string& program) {
    char time_text[32];
    const time_t now = time(nullptr);
    tm local{};
    strftime(time_text, sizeof time_text, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    return name_of_program(prefix, program) + time_text;
}

std::string RunDirectory::read_file(const char* name) const {
    const int fd = openat(directory_, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return "";
    std::string text;
    char part[4096];
    ssize_t got = 0;
    while (((got = read(fd, part, sizeof part)) > 0 || (got < 0 && errno == EINTR)) && text.size() < kMostJsonBytes)
        text.append(part, got > 0 ? static_cast<size_t>(got) : 0);
    close(fd);
    return text;
}

bool RunDirectory::write_file(const char* name, const std::string& text) const {
    const std::string draft = std::string(".draft-") + random_tag();
    const int fd = openat(directory_, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const ssize_t got = write(fd, text.data(), text.size());
    int reason = got < 0 ? errno : got == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
    if (close(fd) != 0 && reason == 0)
        reason = errno;
    if (reason == 0 && renameat(directory_, draft.c_str(), directory_, name) == 0)
        return true;
    reason = reason ? reason : errno;
    unlinkat(directory_, draft.c_str(), 0);
    errno = reason;
    return false;
}

json RunDirectory::read_run_json() const {
    const std::string text = read_file("run.json");
    return text.empty() ? json() : json::parse(text, nullptr, false);
}

void RunDirectory::write_run_json(const json& content) const {
    if (!write_file("run.json", content.dump(1, ' ', false, json::error_handler_t::replace) + "\n"))
        throw Error("cannot write " + path_ + "/run.json: " + strerror(errno));
}

std::string RunDirectory::new_trace_path() const {
    // Blocks are shared by all ranks of a host through its name, so it must be one path component.
    return path_ + "/node-" + host_ + "-" + std::to_string(getpid()) + "-" + random_tag() + ".plumb";
}

RunDirectory::~RunDirectory() {
    if (!claimed_file_.empty())
        release_held_file(directory_, claimed_file_.c_str());
    if (directory_ >= 0)
        close(directory_);
    if (node_lock_ >= 0)
        close(node_lock_);
}

// Opens path_ and finds out whose it is. False: another user's, or open to others, and it need not be this one.
bool RunDirectory::open_own(bool must_be) {
    if (directory_ >= 0)
        close(directory_);
    directory_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info {};
    if (directory_ < 0 || fstat(directory_, &info) != 0) {
        const int reason = errno;
        if (!must_be)
            return false;
        if (reason == ENOTDIR || reason == ELOOP)
            throw UsageError(path_ + " exists and is not a directory; name another one with -o");
        throw Error("cannot open the run directory " + path_ + ": " + strerror(reason) + "; name another one with -o");
    }
    const bool is_own = info.st_uid == geteuid();
    is_closed_ = (info.st_mode & 077) == 0;
    if (is_own && !is_closed_ && must_be) { // an empty one is closed to others; one that holds something stays as it is
        std::error_code error;
        if (std::filesystem::is_empty(path_, error) && !error)
            is_closed_ = fchmod(directory_, 0700) == 0;
    }
    if (must_be && !is_own)
        throw Error(path_ + " belongs to another user: nothing is recorded there; name another directory with -o");
    return is_own && (is_closed_ || must_be);
}

RunDirectory::RunDirectory(const Options& options, const JobIdentity& job)
    : job_(job), host_(options.redact ? platform::host_alias() : host_name()) {
    if (options.redact && !job_.id.empty())
        job_.id = platform::job_alias(job_.id);
    std::error_code ignored;
    const std::string folder = std::filesystem::current_path(ignored).string();
    const bool named = !options.run_directory.empty();
    std::string name = named ? options.run_directory : default_name(options.name.empty() ? options.command.at(0) : options.name, job_);
    while (name.size() > 1 && name.back() == '/')
        name.pop_back();
    path_ = name[0] == '/' ? name : folder + "/" + name;
    const std::string first = path_;
    // Two runs of one program within a second; or ranks of a launcher that is not known.
    for (int attempt = 2; !join_or_create(named && attempt == 2, options.force); ++attempt)
        path_ = first + "-" + std::to_string(attempt);
    if (named && path_ != first) {
        std::string words = first + " holds a run that has not ended: this one is recorded into " + path_;
        std::ranges::replace_if(words, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' '); // names of files may hold any
        write_words(words);
    }
}

// False: taken, and the name is ours to change.
bool RunDirectory::join_or_create(bool named_by_user, bool force) {
    if (mkdir(path_.c_str(), 0700) == 0) {
        created_ = true;
    } else if (errno != EEXIST) {
        throw Error("cannot create the run directory " + path_ + ": " + strerror(errno) +
                    "; name another one with -o");
    }
    if (!open_own(named_by_user || created_))
        return false;
    const DirectoryLock lock(directory_, why_no_locks_);
    if (is_closed_ && !job_.id.empty() && read_file(kJobFile) == job_.id && !is_complete(read_run_json()))
        return true; // another rank of the same job made it
    std::vector<std::string> files = list_files(directory_, path_);
    std::erase_if(files, [](const std::string& file) { return file == kLockFile || file == kHeldFile; });
    if (!files.empty()) {
        const json run = read_run_json();
        const bool is_run = !run.is_null(), has_begun = !read_file(kJobFile).empty();
        if (!named_by_user || (is_run && !force ? run.value("state", "") == "running" : !is_run && has_begun))
            return false;
        if (!force || !is_run)
            throw UsageError(path_ + (is_run ? " already holds a run; remove it, name another directory with -o, or replace it with "
                                               "--force"
                                             : " is not empty and holds no run; name another directory with -o"));
        for (const std::string& file : files)
            if (file == "run.json" || file == kJobFile || file == kKernelMessagesFile || file == flag_scan::kFileName ||
                file.ends_with(".plumb") || file.starts_with(".node-") || file.starts_with(".draft-"))
                unlinkat(directory_, file.c_str(), 0);
    }
    if (!is_closed_ && fchmod(directory_, 0700) != 0)
        throw Error("cannot close the run directory " + path_ + " to other users: " + strerror(errno));
    if (!write_file(kJobFile, job_.id.empty() ? "-" : job_.id)) {
        const int reason = errno;
        if (created_)
            discard();
        throw Error("cannot write into the run directory " + path_ + ": " + strerror(reason) +
                    "; name another one with -o");
    }
    return true;
}

json RunDirectory::read_or_new_run_json(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns) const {
    json run = read_run_json();
    if (!run.is_object()) {
        run = {{"schema", "plumb-run/1"},
               {"state", "running"},
               {"command", options.redact ? platform::without_arguments(options.command) : options.command},
               {"redacted", options.redact},
               {"of_machine", options.is_of_machine},
               {"host", host_},
               {"start_unix_ns", start_unix_ns},
               {"begin_ns", begin_ns},
               {"plumb_version", kVersion},
               {"options",
                {{"rate_hz", options.rate_hz},
                 {"budget_percent", options.budget_percent},
                 {"heap", options.heap},
                 {"align", options.align},
                 {"call_graph", options.call_graph == CallGraph::dwarf  ? "dwarf"
                                : options.call_graph == CallGraph::none ? "none"
                                                                        : "fp"},
                 {"with", options.with},
                 {"without", options.without},
                 {"include", options.redact ? std::vector<std::string>() : options.include},
                 {"exclude", options.redact ? std::vector<std::string>() : options.exclude}}},
               {"job", job_.id},
               {"recorders", {{"expected", std::max(job_.rank_count, 1)}, {"started", 0}, {"finished", 0}}}};
    }
    return run;
}

namespace {

void count(json& run, const char* what) { run["recorders"][what] = run["recorders"].value(what, 0) + 1; }

} // namespace

void RunDirectory::begin(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns) {
    const DirectoryLock lock(directory_, why_no_locks_);
    json run = read_or_new_run_json(options, begin_ns, start_unix_ns);
    count(run, "started");
    write_run_json(run);
    begun_ = true;
}

void RunDirectory::begin_unrecorded(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns) {
    if (job_.rank_count <= 1)
        return discard();
    const DirectoryLock lock(directory_, why_no_locks_);
    json run = read_or_new_run_json(options, begin_ns, start_unix_ns);
    if (!begun_)
        count(run, "started");
    count(run, "finished");
    count(run, "unrecorded");
    write_run_json(run);
}

RunDirectory::Ended RunDirectory::end(uint64_t end_ns, int exit_status) {
    const DirectoryLock lock(directory_, why_no_locks_);
    json run = read_run_json();
    if (!run.is_object())
        throw Error(path_ + "/run.json was removed or damaged during the run");
    count(run, "finished");
    // Clocks of different hosts have nothing in common.
    if (run.value("host", "") == host_)
        run["end_ns"] = std::max(end_ns, run.value("end_ns", uint64_t{0}));
    const bool fails_first = exit_status != 0 && run.value("exit_status", 0) == 0;
    if (run.value("exit_status", 0) == 0)
        run["exit_status"] = exit_status;
    const bool last = run["recorders"].value("finished", 1) >= run["recorders"].value("expected", 1);
    if (last)
        run["state"] = "finished";
    write_run_json(run);
    return {.last = last, .first_failure = fails_first && !last};
}

bool RunDirectory::claim_node() {
    const std::string name = ".node-" + node_identity();
    node_lock_ = openat(directory_, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (node_lock_ < 0)
        return false;
    if (flock(node_lock_, LOCK_EX | LOCK_NB) == 0)
        return true;
    const bool is_taken = !no_locks_here(errno);
    if (!is_taken)
        why_no_locks_ = std::string("flock fails in the run directory: ") + strerror(errno);
    close(node_lock_);
    node_lock_ = -1;
    if (is_taken)
        return false;
    const std::string claimed = name + "-claimed";
    if (take_held_file(directory_, claimed.c_str()) != 0)
        return false;
    claimed_file_ = claimed;
    return true;
}

bool RunDirectory::claim_node_once() {
    const std::string name = ".node-" + node_identity() + "-once";
    const int fd = openat(directory_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno != EEXIST)
        throw Error("cannot create " + path_ + "/" + name + ": " + strerror(errno));
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

std::set<uint32_t> RunDirectory::recorders() const {
    std::set<uint32_t> pids;
    const std::string prefix = "node-" + host_ + "-";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
        const std::string file = entry.path().filename();
        if (file.starts_with(prefix))
            pids.insert(static_cast<uint32_t>(platform::to_u64(std::string_view(file).substr(prefix.size()))));
    }
    return pids;
}

void RunDirectory::discard() {
    // Other ranks may have begun in it.
    const json run = read_run_json();
    if (!created_ || (run.is_object() && run.contains("recorders") && run["recorders"].value("started", 0) > 1))
        return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace plumb::record
