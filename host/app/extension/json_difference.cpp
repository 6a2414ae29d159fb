#include "app/extension/json_difference.hpp"

namespace backplane {
namespace {

// An object tree is as deep as the parser allows; deeper members are replaced whole.
constexpr int kDeepest = 64;

std::string member_path(const std::string& path, std::string_view key) {
  std::string out = path + "/";
  for (const char character : key) {
    if (character == '~') {
      out += "~0";
    } else if (character == '/') {
      out += "~1";
    } else {
      out += character;
    }
  }
  return out;
}

void compare(const Object& before, const Object& after, const std::string& path, int depth, Array& operations) {
  for (const auto& member : before) {
    if (!after.contains(member.key())) operations.push_back(Object{{"op", "remove"}, {"path", member_path(path, member.key())}});
  }
  for (const auto& member : after) {
    const std::string at = member_path(path, member.key());
    const Value* former = before.if_contains(member.key());
    if (former == nullptr) {
      operations.push_back(Object{{"op", "add"}, {"path", at}, {"value", member.value()}});
    } else if (former->is_object() && member.value().is_object() && depth < kDeepest) {
      compare(former->get_object(), member.value().get_object(), at, depth + 1, operations);
    } else if (*former != member.value()) {
      operations.push_back(Object{{"op", "replace"}, {"path", at}, {"value", member.value()}});
    }
  }
}

}  // namespace

Array json_difference(const Object& before, const Object& after) {
  Array operations;
  compare(before, after, "", 0, operations);
  return operations;
}

}  // namespace backplane
