#include "record/run_directory.h"

#include "platform/read_file.h"
#include "record/build_config.h"
#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::record {

namespace {

using nlohmann::json;

constexpr const char* kLockFile = "/.lock";
constexpr const char* kJobFile = "/.job";
constexpr const char* kPlainCodeFile = ".plain-code"; // of the shims (preload/record/align/plain_code.h)

// Serialises what the recorders of one run do to its directory, as long as it lives.
class DirectoryLock {
  public:
    explicit DirectoryLock(const std::string& directory)
        : fd_(open((directory + kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (fd_ >= 0)
            while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {}
    }
    ~DirectoryLock() {
        if (fd_ >= 0)
            close(fd_);
    }
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

  private:
    int fd_;
};

json read_run_json(const std::string& directory) {
    const auto text = platform::read_file(directory + "/run.json");
    return text ? json::parse(*text, nullptr, false) : json();
}

void write_run_json(const std::string& directory, const json& content) {
    const std::string path = directory + "/run.json", draft = path + "." + std::to_string(getpid());
    const std::string text = content.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
    const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (!written || rename(draft.c_str(), path.c_str()) != 0) {
        const int reason = written ? errno : error;
        unlink(draft.c_str());
        throw Error("cannot write " + path + ": " + strerror(reason));
    }
}

// All ranks have come: who comes now belongs to a later run, of the same job or of one with the same name.
bool is_complete(const json& run) {
    if (!run.is_object() || !run.contains("recorders"))
        return false;
    const json& recorders = run["recorders"];
    return recorders.value("started", 0) >= recorders.value("expected", 1);
}

// A name that says what ran and when; `unique` tells apart what starts within one second.
std::string default_name(const std::string& program, const JobIdentity& job) {
    std::string name = program.substr(program.rfind('/') + 1);
    std::ranges::replace_if(name, [](unsigned char c) { return !isalnum(c) && !strchr("._+-", c); }, '_');
    name = "plumb-" + name.substr(0, 64) + "-";
    if (!job.id.empty())
        return name + job.id; // all ranks must come to the same name
    char time_text[32];
    const time_t now = time(nullptr);
    tm local{};
    strftime(time_text, sizeof time_text, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    return name + time_text;
}

} // namespace

RunDirectory::RunDirectory(const Options& options, const JobIdentity& job) : job_(job) {
    std::error_code ignored;
    const std::string folder = std::filesystem::current_path(ignored).string();
    const bool named = !options.run_directory.empty();
    std::string name = named ? options.run_directory : default_name(options.command.at(0), job);
    while (name.size() > 1 && name.back() == '/')
        name.pop_back();
    path_ = name[0] == '/' ? name : folder + "/" + name;
    const std::string first = path_;
    for (int attempt = 2; !join_or_create(named, options.force); ++attempt)
        path_ = first + "-" + std::to_string(attempt); // two runs of one program within a second
}

// False: taken, and the name is ours to change.
bool RunDirectory::join_or_create(bool named_by_user, bool force) {
    if (mkdir(path_.c_str(), 0700) == 0) {
        created_ = true;
    } else if (errno != EEXIST) {
        throw Error("cannot create the run directory " + path_ + ": " + strerror(errno) +
                    "; name another one with -o");
    }
    struct stat info {};
    if (stat(path_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        throw Error(path_ + " exists and is not a directory; name another one with -o");
    const DirectoryLock lock(path_);
    const auto other_job = platform::read_file(path_ + kJobFile);
    if (!job_.id.empty() && other_job == job_.id && !is_complete(read_run_json(path_)))
        return true; // another rank of the same job made it
    bool empty = true;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error))
        empty &= entry.path().filename() == std::string(kLockFile).substr(1);
    if (error)
        throw Error("cannot read the run directory " + path_ + ": " + error.message());
    if (!empty) {
        if (!named_by_user)
            return false;
        const bool is_run = !read_run_json(path_).is_null();
        if (!force || !is_run)
            throw Error(path_ + (is_run ? " already holds a run; remove it, name another directory with -o, or "
                                          "replace it with --force"
                                        : " is not empty and holds no run; name another directory with -o"));
        for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
            const std::string file = entry.path().filename();
            if (file == "run.json" || file == kJobFile + 1 || file == kPlainCodeFile || file.ends_with(".plumb") ||
                file.starts_with(".node-"))
                std::filesystem::remove(entry.path(), error);
        }
    }
    const int fd = open((path_ + kJobFile).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::string id = job_.id.empty() ? "-" : job_.id;
    const bool written = fd >= 0 && write(fd, id.data(), id.size()) == static_cast<ssize_t>(id.size());
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    if (!written) {
        if (created_)
            discard();
        throw Error("cannot write into the run directory " + path_ + ": " + strerror(reason) +
                    "; name another one with -o");
    }
    return true;
}

void RunDirectory::begin(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns) {
    const DirectoryLock lock(path_);
    json run = read_run_json(path_);
    if (!run.is_object()) {
        run = {{"schema", "plumb-run/1"},
               {"state", "running"},
               {"command", options.command},
               {"host", host_name()},
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
                 {"include", options.include},
                 {"exclude", options.exclude}}},
               {"job", job_.id},
               {"recorders", {{"expected", std::max(job_.rank_count, 1)}, {"started", 0}, {"finished", 0}}}};
    }
    run["recorders"]["started"] = run["recorders"].value("started", 0) + 1;
    write_run_json(path_, run);
}

RunDirectory::Ended RunDirectory::end(uint64_t end_ns, int exit_status) {
    const DirectoryLock lock(path_);
    json run = read_run_json(path_);
    if (!run.is_object())
        throw Error(path_ + "/run.json was removed or damaged during the run");
    const int finished = run["recorders"].value("finished", 0) + 1;
    run["recorders"]["finished"] = finished;
    // Clocks of different hosts have nothing in common.
    if (run.value("host", "") == host_name())
        run["end_ns"] = std::max(end_ns, run.value("end_ns", uint64_t{0}));
    const bool fails_first = exit_status != 0 && run.value("exit_status", 0) == 0;
    if (run.value("exit_status", 0) == 0)
        run["exit_status"] = exit_status;
    const bool last = finished >= run["recorders"].value("expected", 1);
    if (last)
        run["state"] = "finished";
    write_run_json(path_, run);
    return {.last = last, .first_failure = fails_first && !last};
}

bool RunDirectory::claim_node() {
    const std::string path = path_ + "/.node-" + host_name();
    node_lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (node_lock_ < 0)
        return false;
    if (flock(node_lock_, LOCK_EX | LOCK_NB) == 0)
        return true;
    close(node_lock_);
    node_lock_ = -1;
    return false;
}

std::set<uint32_t> RunDirectory::recorders() const {
    std::set<uint32_t> pids;
    const std::string prefix = "node-" + host_name() + "-";
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
    const json run = read_run_json(path_);
    if (!created_ || (run.is_object() && run.contains("recorders") && run["recorders"].value("started", 0) > 1))
        return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace plumb::record
