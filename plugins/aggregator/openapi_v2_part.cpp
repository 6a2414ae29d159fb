#include "openapi_v2_part.hpp"

#include <vector>

namespace backplane {
namespace {

constexpr std::string_view kDefinitions = "#/definitions/", kParameters = "#/parameters/";

std::string unescaped(std::string_view pointer) {
  std::string out;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '~' && i + 1 < pointer.size() && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
      out.push_back(pointer[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(pointer[i]);
    }
  }
  return out;
}

class Part {
 public:
  explicit Part(const Object& document) : document_(document) {}

  // Adds the definitions that the value refers to, directly or indirectly.
  void follow(const Value& value) {
    waiting_.push_back(&value);
    while (!waiting_.empty()) {
      const Value& next = *waiting_.back();
      waiting_.pop_back();
      if (const Array* list = next.if_array()) {
        for (const Value& each : *list) waiting_.push_back(&each);
      }
      const Object* object = next.if_object();
      if (object == nullptr) continue;
      for (const auto& member : *object) {
        if (member.key() == "$ref" && member.value().is_string()) take(std::string_view(member.value().get_string()));
        waiting_.push_back(&member.value());
      }
    }
  }

  Object definitions, parameters;

 private:
  void take(std::string_view reference) {
    if (reference.starts_with(kDefinitions)) take(reference.substr(kDefinitions.size()), "definitions", definitions);
    if (reference.starts_with(kParameters)) take(reference.substr(kParameters.size()), "parameters", parameters);
  }
  void take(std::string_view pointer, std::string_view table, Object& out) {
    const std::string name = unescaped(pointer);
    const Object* all = get_object(document_, table);
    const Value* found = all != nullptr ? find(*all, name) : nullptr;
    if (found == nullptr || out.contains(name)) return;
    out[name] = *found;
    waiting_.push_back(found);
  }

  const Object& document_;
  std::vector<const Value*> waiting_;
};

}  // namespace

Object openapi_v2_part(const Object& document, const GroupVersion& version) {
  const std::string prefix = version.path() + "/";
  Part part(document);
  Object paths;
  if (const Object* all = get_object(document, "paths")) {
    for (const auto& [path, item] : *all) {
      if (!std::string_view(path).starts_with(prefix)) continue;
      paths[path] = item;
      part.follow(item);
    }
  }
  return Object{{"paths", std::move(paths)}, {"definitions", std::move(part.definitions)}, {"parameters", std::move(part.parameters)}};
}

}  // namespace backplane
