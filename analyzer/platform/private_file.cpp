#include "platform/private_file.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

// Ours, and nobody else may read or write it.
bool is_private(int fd, mode_t kind) {
    struct stat info {};
    return fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == kind && info.st_uid == geteuid() &&
           (info.st_mode & 077) == 0 && (kind == S_IFDIR || info.st_nlink == 1);
}

int open_folder(const std::string& folder) {
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && is_private(fd, S_IFDIR))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = write(fd, text.data(), text.size());
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        text.remove_prefix(static_cast<size_t>(put));
    }
    return true;
}

constexpr time_t kAbandoned_s = 600; // writing takes milliseconds

bool is_draft_of(std::string_view name, std::string_view entry) {
    if (!entry.starts_with(name) || entry.size() < name.size() + 2 || entry[name.size()] != '.')
        return false;
    return std::ranges::all_of(entry.substr(name.size() + 1), [](unsigned char c) { return isdigit(c); });
}

// Of writers that were ended before they had finished.
void remove_abandoned_drafts(int folder, const std::string& name) {
    DIR* entries = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!entries)
        return;
    const time_t now = time(nullptr);
    while (const dirent* entry = readdir(entries)) {
        struct stat info {};
        if (is_draft_of(name, entry->d_name) && fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            info.st_mtime < now - kAbandoned_s)
            unlinkat(folder, entry->d_name, 0);
    }
    closedir(entries);
}

} // namespace

Descriptor::~Descriptor() {
    if (fd_ >= 0)
        close(fd_);
}

std::string user_cache_folder() {
    std::string base;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        base = cache;
    else if (const char* home = std::getenv("HOME"); home && *home == '/')
        base = std::string(home) + "/.cache";
    else
        return {};
    struct stat info {};
    if (stat(base.c_str(), &info) != 0 && mkdir(base.c_str(), 0700) == 0 && stat(base.c_str(), &info) != 0)
        return {};
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || geteuid() != getuid())
        return {};
    base += "/plumb";
    mkdir(base.c_str(), 0700);
    return base;
}

std::string name_for_host(std::string_view prefix, std::string host) {
    std::ranges::replace_if(host, [](unsigned char c) { return !isalnum(c) && !std::strchr("._+-", c); }, '_');
    return std::string(prefix) + host.substr(0, 64);
}

std::string name_for_this_host(std::string_view prefix) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return name_for_host(prefix, host);
}

int open_private_file(const std::string& folder, const std::string& name) {
    const Descriptor in(open_folder(folder));
    if (!in)
        return -1;
    const int file = openat(in.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || is_private(file, S_IFREG))
        return file;
    close(file);
    return -1;
}

bool write_private_file(const std::string& folder, const std::string& name, std::string_view content) {
    const std::string draft = name + "." + std::to_string(getpid());
    const Descriptor in(open_folder(folder));
    if (!in)
        return false;
    remove_abandoned_drafts(in.get(), name);
    bool written = false;
    {
        const Descriptor file(openat(in.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file)
            return false;
        written = write_whole(file.get(), content);
    }
    written = written && renameat(in.get(), draft.c_str(), in.get(), name.c_str()) == 0;
    if (!written)
        unlinkat(in.get(), draft.c_str(), 0);
    return written;
}

} // namespace plumb::platform
