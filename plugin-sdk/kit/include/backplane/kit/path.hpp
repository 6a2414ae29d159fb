// A field path ("spec.containers[0].env") as a linked list of objects on the stack. The text is built only for an error, so validating a
// valid object allocates no memory.
//
// Thread-safety: immutable.
// Lifetime:      a Path refers to its names and to its parent path, which must outlive it. at() cannot be called on a temporary Path.
//                Functions take a Path by const reference and do not store it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace backplane {
namespace kit {

// One element: a parent path and one step.
//
//   void check_container(const Object& container, const kit::Path& path, FieldErrors& errors) {
//     if (get_string(container, "image").empty()) errors.required(path.at("image"));
//   }
class Path {
 public:
  // A path that begins with `root`; empty: the object itself.
  Path(std::string_view root) noexcept : name_(root) {}
  Path(const std::string& root) noexcept : name_(root) {}
  Path(const char* root) noexcept : name_(root) {}

  // Return the path of a member ("path.name"), of an item of a list member ("path.name[index]"), of an item ("path[index]"), or of a map
  // entry ("path[key]").
  Path at(std::string_view name) const& noexcept { return {this, name, kNoIndex, Step::kMember}; }
  Path at(std::string_view name, std::size_t index) const& noexcept { return {this, name, index, Step::kMember}; }
  Path at(std::size_t index) const& noexcept { return {this, {}, index, Step::kItem}; }
  Path at_key(std::string_view key) const& noexcept { return {this, key, kNoIndex, Step::kKey}; }
  Path at(std::string_view) && = delete;
  Path at(std::string_view, std::size_t) && = delete;
  Path at(std::size_t) && = delete;
  Path at_key(std::string_view) && = delete;

  // The whole path as text.
  std::string text() const {
    std::string out;
    append_to(out);
    return out;
  }
  operator std::string() const { return text(); }
  friend std::string operator+(const Path& path, std::string_view rest) { return path.text().append(rest); }

 private:
  enum class Step : unsigned char { kMember, kItem, kKey };
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  Path(const Path* parent, std::string_view name, std::size_t index, Step step) noexcept
      : parent_(parent), name_(name), index_(index), step_(step) {}

  void append_to(std::string& out) const {
    if (parent_ != nullptr) parent_->append_to(out);
    if (step_ == Step::kKey) {
      out.append("[").append(name_).append("]");
    } else {
      if (!out.empty() && !name_.empty()) out.push_back('.');
      out.append(name_);
    }
    if (index_ != kNoIndex) out.append("[").append(std::to_string(index_)).append("]");
  }

  const Path* parent_ = nullptr;
  std::string_view name_;
  std::size_t index_ = kNoIndex;
  Step step_ = Step::kMember;
};

}  // namespace kit
}  // namespace backplane
