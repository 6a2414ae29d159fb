#include "conformance/subject.hpp"

namespace backplane::conformance {
namespace {

std::string with_query(std::string path, std::string_view query) { return query.empty() ? path : path + "?" + std::string(query); }

}  // namespace

std::string Subject::collection(std::string_view query) const {
  return with_query(type.root() + (ns.empty() ? "" : "/namespaces/" + ns) + "/" + type.resource, query);
}

std::string Subject::everywhere(std::string_view query) const { return with_query(type.root() + "/" + type.resource, query); }

std::string Subject::item(std::string_view name, std::string_view query) const {
  return with_query(collection() + "/" + std::string(name), query);
}

std::string Subject::part(std::string_view name, std::string_view subresource, std::string_view query) const {
  return with_query(item(name) + "/" + std::string(subresource), query);
}

Object Subject::object(std::string_view name) const {
  Object made = sample_;
  Object& metadata = ensure_object(made, "metadata");
  metadata["name"] = name;
  if (ns.empty()) {
    metadata.erase("namespace");
  } else {
    metadata["namespace"] = ns;
  }
  return made;
}

Object Subject::labelled(std::string_view name, std::string_view key, std::string_view value) const {
  Object made = object(name);
  ensure_object(ensure_object(made, "metadata"), "labels")[key] = value;
  return made;
}

std::string label_patch(std::string_view key, std::string_view value) {
  const Value changed = value.empty() ? Value(nullptr) : Value(value);
  return to_json(Object{{"metadata", Object{{"labels", Object{{key, changed}}}}}});
}

}  // namespace backplane::conformance
