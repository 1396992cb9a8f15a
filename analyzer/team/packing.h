// What one process of a team hands to another, as bytes. Both are the same program on the same kind of machine, so that
// values go as they lie in memory. A type of several members says `template <class Carrier> void carry(Carrier& carrier)
// { carrier(first, second); }`, which serves both directions.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plumb::team {

template <class Value> concept Plain = std::is_trivially_copyable_v<Value>;

class Packer {
  public:
    template <class... Values> void operator()(const Values&... values) { (put(values), ...); }
    const std::string& bytes() const { return bytes_; }

  private:
    template <Plain Value> void put(const Value& value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(const std::string& text) {
        put(static_cast<uint64_t>(text.size()));
        bytes_ += text;
    }
    template <class Value> void put(const std::vector<Value>& values) {
        put(static_cast<uint64_t>(values.size()));
        if constexpr (Plain<Value>)
            bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
        else
            for (const Value& value : values)
                put(value);
    }
    template <class Key, class Value> void put(const std::map<Key, Value>& values) {
        put(static_cast<uint64_t>(values.size()));
        for (const auto& [key, value] : values)
            (*this)(key, value);
    }
    template <class Value>
        requires(!Plain<Value>) && requires(Value& value, Packer& packer) { value.carry(packer); }
    void put(const Value& value) {
        const_cast<Value&>(value).carry(*this); // a packer only reads
    }

    std::string bytes_;
};

// Throws Error where the bytes end too early.
class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
    template <class... Values> void operator()(Values&... values) { (get(values), ...); }
    bool at_end() const { return rest_.empty(); }

  private:
    const char* next(uint64_t size) {
        if (size > rest_.size())
            throw Error("the part of another process is cut off");
        const char* begin = rest_.data();
        rest_.remove_prefix(size);
        return begin;
    }
    uint64_t count(uint64_t least_size) {
        uint64_t count = 0;
        get(count);
        if (count > rest_.size() / least_size)
            throw Error("the part of another process is cut off");
        return count;
    }
    template <Plain Value> void get(Value& value) { std::memcpy(&value, next(sizeof value), sizeof value); }
    void get(std::string& text) {
        const uint64_t size = count(1);
        text.assign(next(size), size);
    }
    template <class Value> void get(std::vector<Value>& values) {
        values.resize(count(Plain<Value> ? sizeof(Value) : 1));
        if constexpr (Plain<Value>) {
            if (!values.empty())
                std::memcpy(values.data(), next(values.size() * sizeof(Value)), values.size() * sizeof(Value));
        } else {
            for (Value& value : values)
                get(value);
        }
    }
    template <class Key, class Value> void get(std::map<Key, Value>& values) {
        values.clear();
        for (uint64_t left = count(1); left > 0; --left) {
            std::pair<Key, Value> entry{};
            (*this)(entry.first, entry.second);
            values.insert(std::move(entry));
        }
    }
    template <class Value>
        requires(!Plain<Value>) && requires(Value& value, Unpacker& unpacker) { value.carry(unpacker); }
    void get(Value& value) {
        value.carry(*this);
    }

    std::string_view rest_;
};

} // namespace plumb::team
