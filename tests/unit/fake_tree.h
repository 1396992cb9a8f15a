// A folder that looks like /proc or /sys of a machine nobody here has.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class FakeTree {
  public:
    FakeTree() {
        std::string name = (std::filesystem::temp_directory_path() / "plumb-tree-XXXXXX").string();
        root_ = mkdtemp(name.data());
    }
    ~FakeTree() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    FakeTree(const FakeTree&) = delete;
    FakeTree& operator=(const FakeTree&) = delete;

    const std::string& root() const { return root_; }

    void write(const std::string& path, const std::string& content) const {
        const std::filesystem::path file = root_ + "/" + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << content;
    }
    void remove(const std::string& path) const { std::filesystem::remove_all(root_ + "/" + path); }

  private:
    std::string root_;
};
