#include "symbols/frame_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::symbols {

namespace {

// To be changed with the layout below and with anything that makes frames of the same files come out differently.
constexpr char kCacheMagic[16] = "PLUMB-SYMBOLS-2";
constexpr uint64_t kMaxBytes = 256u << 20;
// Of all texts, unfolded: a few bytes can refer to a long one again and again. A frame takes 17 bytes and the names of C++
// templates a few thousand.
constexpr uint64_t kMaxText = 1u << 30, kSmallText = 1u << 20, kMostUnfolding = 256;

class Writer {
  public:
    template <typename T> void number(T value) {
        const auto* bytes = reinterpret_cast<const char*>(&value);
        body_.append(bytes, sizeof value);
    }
    void text(const std::string& value) {
        const auto [entry, is_new] = ids_.try_emplace(value, static_cast<uint32_t>(ids_.size()));
        if (is_new) {
            const auto size = static_cast<uint32_t>(value.size());
            strings_.append(reinterpret_cast<const char*>(&size), sizeof size);
            strings_ += value;
        }
        number(entry->second);
    }
    // magic | count of strings | strings | body
    std::string file() const {
        std::string all(kCacheMagic, sizeof kCacheMagic);
        const auto count = static_cast<uint32_t>(ids_.size());
        all.append(reinterpret_cast<const char*>(&count), sizeof count);
        return all + strings_ + body_;
    }

  private:
    std::string strings_, body_;
    std::unordered_map<std::string, uint32_t> ids_;
};

// The file is untrusted like all of a run directory: everything read is checked, the first fault ends it.
class Reader {
  public:
    explicit Reader(std::string data) : data_(std::move(data)) {
        if (data_.size() < sizeof kCacheMagic || std::memcmp(data_.data(), kCacheMagic, sizeof kCacheMagic) != 0) {
            is_good_ = false;
            return;
        }
        at_ = sizeof kCacheMagic;
        const auto count = number<uint32_t>();
        for (uint32_t i = 0; is_good_ && i < count; ++i) {
            const auto size = number<uint32_t>();
            if (!is_good_ || size > data_.size() - at_) {
                is_good_ = false;
                break;
            }
            strings_.emplace_back(data_.data() + at_, size);
            at_ += size;
        }
    }
    template <typename T> T number() {
        T value{};
        if (!is_good_ || data_.size() - at_ < sizeof value) {
            is_good_ = false;
            return value;
        }
        std::memcpy(&value, data_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::string text() {
        const auto id = number<uint32_t>();
        if (id >= strings_.size()) {
            is_good_ = false;
            return {};
        }
        unfolded_ += strings_[id].size();
        is_good_ = is_good_ && unfolded_ <= std::min(kMaxText, kSmallText + kMostUnfolding * data_.size());
        return strings_[id];
    }
    bool is_good() const { return is_good_; }
    bool at_end() const { return at_ == data_.size(); }

  private:
    std::string data_;
    size_t at_ = 0;
    uint64_t unfolded_ = 0;
    bool is_good_ = true;
    std::vector<std::string> strings_;
};

std::string read_file(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat status{};
    std::string data;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        static_cast<uint64_t>(status.st_size) <= kMaxBytes) {
        data.resize(static_cast<size_t>(status.st_size));
        size_t filled = 0;
        for (ssize_t got; filled < data.size() &&
                          (got = read(fd, data.data() + filled, data.size() - filled)) > 0;)
            filled += static_cast<size_t>(got);
        data.resize(filled);
    }
    if (fd >= 0)
        close(fd);
    return data;
}

} // namespace

FrameCache::FrameCache(std::string path) : path_(std::move(path)) {
    if (!path_.empty())
        load(read_file(path_));
}

bool FrameCache::load(std::string bytes) {
    Reader reader(std::move(bytes));
    while (reader.is_good() && !reader.at_end()) {
        ModuleFrames& module = modules_[reader.text()];
        module.identity = reader.text();
        const auto count = reader.number<uint32_t>();
        for (uint32_t i = 0; reader.is_good() && i < count; ++i) {
            std::vector<model::SourceFrame>& frames = module.frames[reader.number<uint64_t>()];
            const auto depth = reader.number<uint16_t>();
            frames.clear();
            for (uint16_t level = 0; reader.is_good() && level < depth; ++level) {
                model::SourceFrame frame;
                frame.function = reader.text();
                frame.file = reader.text();
                frame.line = reader.number<uint32_t>();
                frame.function_line = reader.number<uint32_t>();
                frame.inlined = reader.number<uint8_t>() != 0;
                frames.push_back(std::move(frame));
            }
        }
    }
    if (!reader.is_good())
        modules_.clear();
    return reader.is_good();
}

FrameCache::Frames& FrameCache::frames_of(const std::string& key, const std::string& identity) {
    ModuleFrames& module = modules_[key];
    if (module.identity != identity) {
        module.frames.clear();
        module.identity = identity;
    }
    return module.frames;
}

void FrameCache::forget(const std::string& key) {
    if (auto module = modules_.find(key); module != modules_.end())
        module->second.frames.clear();
}

void FrameCache::save() {
    if (path_.empty() || !is_changed_)
        return;
    Writer writer;
    for (const auto& [key, module] : modules_) {
        writer.text(key);
        writer.text(module.identity);
        writer.number(static_cast<uint32_t>(module.frames.size()));
        for (const auto& [address, frames] : module.frames) {
            writer.number(address);
            writer.number(static_cast<uint16_t>(frames.size()));
            for (const model::SourceFrame& frame : frames) {
                writer.text(frame.function);
                writer.text(frame.file);
                writer.number(frame.line);
                writer.number(frame.function_line);
                writer.number(static_cast<uint8_t>(frame.inlined));
            }
        }
    }
    const std::string data = writer.file();
    const std::string draft = path_ + "." + std::to_string(getpid());
    const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    size_t written = 0;
    for (ssize_t put; written < data.size() &&
                      (put = write(fd, data.data() + written, data.size() - written)) > 0;)
        written += static_cast<size_t>(put);
    if (close(fd) != 0 || written != data.size() || rename(draft.c_str(), path_.c_str()) != 0)
        unlink(draft.c_str());
    is_changed_ = false;
}

} // namespace plumb::symbols
