#include "gc/facts.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::controllers::gc {
namespace {

// Stores a string member of metadata. `key`: the name of the member.
void take_text(Facts& facts, std::string_view key, std::string text) {
  if (key == "uid") facts.uid = std::move(text);
  if (key == "name") facts.name = std::move(text);
  if (key == "namespace") facts.ns = std::move(text);
  if (key == "resourceVersion") facts.resource_version = std::move(text);
  if (key == "deletionTimestamp") facts.deleted = !text.empty();
}

void take_owner_text(OwnerRef& owner, std::string_view key, std::string text) {
  if (key == "apiVersion") owner.api_version = std::move(text);
  if (key == "kind") owner.kind = std::move(text);
  if (key == "name") owner.name = std::move(text);
  if (key == "uid") owner.uid = std::move(text);
}

void take_finalizer(Facts& facts, std::string_view finalizer) {
  facts.orphan |= finalizer == kOrphanFinalizer;
  facts.foreground |= finalizer == kForegroundFinalizer;
}

// The handler of the parser's events. Depths: 1 the object, 2 metadata, 3 a list of metadata, 4 an owner reference. The end of metadata
// ends the parse.
class FactsHandler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  using Error = boost::system::error_code;
  using Text = json::string_view;

  Facts facts;
  bool done = false;

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) {
    ++depth_;
    if (depth_ == 2) in_metadata_ = key_ == "metadata";
    if (in_metadata_ && depth_ == 4 && list_ == "ownerReferences") facts.owners.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, Error& error) {
    if (depth_ == 2 && in_metadata_) {
      done = true;
      error = json::error::extra_data;  // ends the parse
      return false;
    }
    --depth_;
    return true;
  }
  bool on_array_begin(Error&) {
    ++depth_;
    if (in_metadata_ && depth_ == 3) list_ = key_;
    return true;
  }
  bool on_array_end(std::size_t, Error&) {
    if (depth_ == 3) list_.clear();
    --depth_;
    return true;
  }
  bool on_key_part(Text part, std::size_t, Error&) {
    pending_.append(part.data(), part.size());
    return true;
  }
  bool on_key(Text part, std::size_t, Error&) {
    pending_.append(part.data(), part.size());
    key_.swap(pending_);
    pending_.clear();
    return true;
  }
  bool on_string_part(Text part, std::size_t, Error&) {
    if (wants_text()) pending_.append(part.data(), part.size());
    return true;
  }
  bool on_string(Text part, std::size_t, Error&) {
    if (!wants_text()) return true;
    pending_.append(part.data(), part.size());
    if (depth_ == 2) take_text(facts, key_, std::move(pending_));
    if (depth_ == 3 && list_ == "finalizers") take_finalizer(facts, pending_);
    if (depth_ == 4 && !facts.owners.empty() && list_ == "ownerReferences") {
      take_owner_text(facts.owners.back(), key_, std::move(pending_));
    }
    pending_.clear();
    return true;
  }
  bool on_bool(bool value, Error&) {
    if (in_metadata_ && depth_ == 4 && key_ == "blockOwnerDeletion" && !facts.owners.empty()) facts.owners.back().blocks = value;
    return true;
  }
  bool on_number_part(Text, Error&) { return true; }
  bool on_int64(std::int64_t, Text, Error&) { return true; }
  bool on_uint64(std::uint64_t, Text, Error&) { return true; }
  bool on_double(double, Text, Error&) { return true; }
  bool on_null(Error&) { return true; }
  bool on_comment_part(Text, Error&) { return true; }
  bool on_comment(Text, Error&) { return true; }

 private:
  bool wants_text() const {
    if (!in_metadata_ || depth_ < 2 || depth_ > 4) return false;
    return depth_ == 2 || list_ == "finalizers" || list_ == "ownerReferences";
  }

  std::size_t depth_ = 0;
  bool in_metadata_ = false;
  std::string key_, list_, pending_;
};

}  // namespace

std::optional<Facts> read_facts(std::string_view object) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::basic_parser<FactsHandler> parser(options);
  boost::system::error_code error;
  parser.write_some(false, object.data(), object.size(), error);
  if (!parser.handler().done) return std::nullopt;
  return std::move(parser.handler().facts);
}

Facts facts_of(const Object& object) {
  const Object& metadata = object_or_empty(object, "metadata");
  Facts out;
  for (const auto& [key, value] : metadata) {
    if (value.is_string()) take_text(out, key, std::string(text_of(value)));
  }
  each_text(metadata, "finalizers", [&](std::string_view finalizer, std::size_t) { take_finalizer(out, finalizer); });
  each(metadata, "ownerReferences", [&](const Object& reference, std::size_t) {
    OwnerRef& owner = out.owners.emplace_back();
    for (const auto& [key, value] : reference) {
      if (value.is_string()) take_owner_text(owner, key, std::string(text_of(value)));
    }
    owner.blocks = get_bool(reference, "blockOwnerDeletion").value_or(false);
  });
  return out;
}

}  // namespace backplane::controllers::gc
