#include "record/watch/threads/task_files.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace plumb::record {

TaskFiles::TaskFiles(const std::string& proc_root, uint32_t pid, uint32_t tid, bool keep)
    : folder_(proc_root + "/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/"), keep_(keep) {}

TaskFiles::~TaskFiles() { close_all(); }

TaskFiles::TaskFiles(TaskFiles&& other) noexcept
    : folder_(std::move(other.folder_)), keep_(other.keep_), scheduling_(std::exchange(other.scheduling_, {})),
      call_(std::exchange(other.call_, {})) {}

TaskFiles& TaskFiles::operator=(TaskFiles&& other) noexcept {
    if (this != &other) {
        close_all();
        folder_ = std::move(other.folder_);
        keep_ = other.keep_;
        scheduling_ = std::exchange(other.scheduling_, {});
        call_ = std::exchange(other.call_, {});
    }
    return *this;
}

void TaskFiles::close_all() {
    for (File* file : {&scheduling_, &call_})
        if (file->fd >= 0)
            close(std::exchange(file->fd, -1));
}

// Bytes read; 0: it could not be read.
size_t TaskFiles::read(File& file, const char* name, char* text, size_t room) {
    if (file.fd < 0 && (file.fd = open((folder_ + name).c_str(), O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    const ssize_t got = pread(file.fd, text, room, 0);
    const int error = errno;
    if (!keep_)
        close(std::exchange(file.fd, -1));
    errno = error;
    return got > 0 ? static_cast<size_t>(got) : 0;
}

std::optional<platform::TaskScheduling> TaskFiles::scheduling() {
    char text[128];
    return platform::parse_task_scheduling({text, read(scheduling_, "schedstat", text, sizeof text)});
}

std::optional<platform::TaskSyscall> TaskFiles::call() {
    char text[256];
    errno = 0;
    return platform::parse_task_syscall({text, read(call_, "syscall", text, sizeof text)});
}

} // namespace plumb::record
