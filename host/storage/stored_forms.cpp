#include "storage/stored_forms.hpp"

#include "backplane/types/schema.hpp"
#include "engine/raw_json.hpp"
#include "storage/etcd_limit.hpp"

namespace backplane {
namespace {

// The size of the memory for a tree on the stack; larger trees also use the heap.
constexpr std::size_t kRoom = 32 * 1024;

GroupVersionKind kind_in(const Object& object) {
  const GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return {version.group, version.version, std::string(get_string(object, "kind"))};
}

Result<Value> parse_object(std::string_view json, json::storage_ptr storage) {
  auto tree = parse_json(json, std::move(storage), nullptr);
  if (tree.ok() && !tree->is_object()) return internal_error("the value is no object");
  return tree;
}

// Decodes stored protobuf to a tree, whereas Codec::from_stored() returns a text.
Result<Value> tree_of_protobuf(const Schema& schema, std::string_view stored, json::storage_ptr storage) {
  const auto envelope = open_protobuf_envelope(stored);
  if (!envelope.ok()) return internal_error(envelope.status().message());
  auto tree = schema.decode_protobuf(envelope->raw, std::move(storage));
  if (!tree.ok()) return internal_error(tree.status().message());
  Object& object = tree->get_object();
  object["kind"] = envelope->kind;
  object["apiVersion"] = envelope->api_version;
  Status normal = schema.normalize(*tree, nullptr);
  if (!normal.ok()) return internal_error(normal.message());
  return tree;
}

bool is_known(const Scheme* scheme, const GroupVersionKind& kind, const GroupVersionKind& to) {
  return scheme != nullptr && (scheme->recognizes(kind) || scheme->converts(kind, to));
}

// Worded like upstream's runtime.NewNotRegisteredErrForKind.
Status not_registered(const GroupVersionKind& kind) {
  return internal_error("no kind " + quoted(kind.kind) + " is registered for version " + quoted(kind.group_version().to_string()) +
                        " in scheme \"pkg/runtime/scheme.go:111\"");
}

Status convert_by(const Scheme* scheme, Object& object, const GroupVersionKind& to) {
  const GroupVersionKind from = kind_in(object);
  if (from == to) return {};
  if (!is_known(scheme, from, to)) return not_registered(from);
  Status done = scheme->convert(from, to, object);
  if (!done.ok()) return done;
  object["kind"] = to.kind;
  object["apiVersion"] = to.group_version().to_string();
  return {};
}

// Converts `tree` from the version in which it was written to the version of `kind`, and returns the canonical text. `written_in`: the
// schema of the former version. Sets the defaults of both versions.
Result<std::string> canonical_text(const Scheme* scheme, Value& tree, const StoredKind& kind, const Schema& written_in) {
  if (&written_in != kind.schema) written_in.apply_defaults(tree);
  Status done = convert_by(scheme, tree.get_object(), kind.kind);
  if (!done.ok()) return done;
  kind.schema->apply_defaults(tree);
  if (kind.strategy != nullptr) kind.strategy->apply_defaults(tree.get_object());
  done = kind.schema->normalize(tree, nullptr);
  if (!done.ok()) return done;
  return kept_json(tree);
}

// As canonical_text(), for stored protobuf, the encoding of most values: it makes a text only once, at the end.
Result<std::string> canonical_message(const Scheme* scheme, const Schema& written_in, const StoredKind& kind, std::string_view stored) {
  unsigned char room[kRoom];
  json::monotonic_resource arena(room, sizeof room);
  auto tree = tree_of_protobuf(written_in, stored, &arena);
  if (!tree.ok()) return std::move(tree.status());
  return canonical_text(scheme, *tree, kind, written_in);
}

bool take_front(std::string_view& text, std::string_view front) {
  const bool there = text.starts_with(front);
  if (there) text.remove_prefix(front.size());
  return there;
}

// True if the value is JSON that this store has written in the kind's version, so that it needs no conversion.
bool is_canonical(const StoredKind* kind, std::string_view value) {
  if (!json_codec().wrote(value) || !value.ends_with('}')) return false;
  if (kind == nullptr || kind->schema == nullptr) return true;
  take_front(value, " ");
  const GroupVersionKind& own = kind->kind;
  const bool named = take_front(value, R"({"kind":")") && take_front(value, own.kind) && take_front(value, R"(","apiVersion":")");
  return named && (own.group.empty() || (take_front(value, own.group) && take_front(value, "/"))) && take_front(value, own.version) &&
         take_front(value, R"(",)");
}

// The codec that has written these bytes; null: none of this build. It may be CBOR even if this server does not offer CBOR, because another
// server of the same store may write it.
const Codec* writer_of(std::string_view bytes) {
  for (const Codec* codec : codecs(true)) {
    if (codec->wrote(bytes)) return codec;
  }
  return nullptr;
}

const Codec& codec_named(std::string_view form) {
  const Codec* codec = find_codec(form);
  return codec != nullptr ? *codec : json_codec();
}

}  // namespace

StoredForms::StoredForms(std::string_view form) : written_(codec_named(form)), writes_yaml_(form == "yaml") {}

void StoredForms::use_kind(std::string_view prefix, StoredKind kind) {
  auto next = std::make_shared<const StoredKind>(std::move(kind));
  std::unique_lock lock(mutex_);
  kinds_[std::string(prefix)].swap(next);
  lock.unlock();  // `next` destroys the former kind and its hold without the lock
}

void StoredForms::forget_kind(std::string_view prefix) {
  std::shared_ptr<const StoredKind> forgotten;  // declared before the lock, so that the kind is destroyed without it
  std::unique_lock lock(mutex_);
  const auto found = kinds_.find(prefix);
  if (found == kinds_.end()) return;
  forgotten = std::move(found->second);
  kinds_.erase(found);
}

std::shared_ptr<const StoredKind> StoredForms::kind_of(std::string_view key) const {
  std::shared_lock lock(mutex_);
  for (auto slash = key.rfind('/'); slash != std::string_view::npos && slash > 0; slash = key.rfind('/', slash - 1)) {
    const auto found = kinds_.find(key.substr(0, slash + 1));
    if (found != kinds_.end()) return found->second;
  }
  return nullptr;
}

Status StoredForms::convert(Object& object, const GroupVersionKind& to) const { return convert_by(scheme_.get().get(), object, to); }

const Schema* StoredForms::schema_in(const Object& object, const Schema* fallback) const {
  const auto scheme = scheme_.get();
  const Schema* known = scheme != nullptr ? scheme->type_of(kind_in(object)) : nullptr;
  return known != nullptr ? known : fallback;
}

Result<std::string> StoredForms::encoded_as(std::string_view json, const GroupVersionKind& to, const Schema* schema) const {
  json::monotonic_resource arena;
  auto tree = parse_object(json, &arena);
  if (!tree.ok()) return std::move(tree.status());
  keep_raw(schema_in(tree->get_object(), nullptr), *tree, json);
  Status done = convert(tree->get_object(), to);
  if (done.ok() && schema != nullptr) done = schema->normalize(*tree, nullptr);
  if (!done.ok()) return done;
  return kept_json(*tree);
}

Result<std::string> StoredForms::canonical(std::string_view json, const StoredKind& kind) const {
  json::monotonic_resource arena;
  auto tree = parse_object(json, &arena);
  if (!tree.ok()) return std::move(tree.status());
  const Schema& written_in = *schema_in(tree->get_object(), kind.schema);
  keep_raw(&written_in, *tree, json);
  const bool typed = &written_in != kind.schema || kind_in(tree->get_object()) == kind.kind;
  // An object in a version without a schema is converted first: the kind's schema would drop members that have another name in that
  // version.
  Status converted = typed ? Status() : convert_by(scheme_.get().get(), tree->get_object(), kind.kind);
  if (!converted.ok()) return converted;
  // Defaults are set only in structs that are present.
  Status normal = written_in.normalize(*tree, nullptr);
  if (!normal.ok()) return normal;
  return canonical_text(scheme_.get().get(), *tree, kind, written_in);
}

Result<std::string> StoredForms::encoded(const StoredKind& kind, std::string json) const {
  const Schema* schema = kind.schema;
  if (!kind.encoded_as.kind.empty()) {
    const auto scheme = scheme_.get();
    schema = scheme != nullptr ? scheme->type_of(kind.encoded_as) : nullptr;
    auto other = encoded_as(json, kind.encoded_as, schema);
    if (!other.ok()) return other;
    json = std::move(*other);
  }
  if (writes_yaml_ && !kind.json && schema != nullptr) {
    json::monotonic_resource arena;
    const auto tree = parse_object(json, &arena);
    return tree.ok() ? to_yaml(*tree) : Result<std::string>(tree.status());
  }
  if (!kind.json && schema != nullptr && schema->has_protobuf()) return written_.to_stored(schema, std::move(json));
  json.push_back('\n');
  return json;
}

namespace {

// The size of the value that kube-apiserver would write to etcd. A conversion to another stored version is not taken into account.
Result<std::size_t> size_in_etcd(const StoredKind* kind, std::string_view json) {
  const bool encoded = kind != nullptr && !kind->json && kind->schema != nullptr && kind->schema->has_protobuf();
  if (!encoded) return json.size() + 1;
  auto stored = protobuf_codec().to_stored(kind->schema, std::string(json));
  if (!stored.ok()) return std::move(stored.status());
  return stored->size();
}

}  // namespace

Status StoredForms::check_size(const StoredKind* kind, std::string_view key, const SharedBytes& worked) const {
  if (!writes_json()) return {};
  return check_etcd_limit(key, worked.size(), [&] { return size_in_etcd(kind, worked.view()); });
}

Result<SharedBytes> StoredForms::encode(const StoredKind* kind, const SharedBytes& worked) const {
  if (kind == nullptr || writes_json()) return worked;
  auto bytes = encoded(*kind, std::string(worked.view()));
  if (!bytes.ok()) return std::move(bytes.status());
  return SharedBytes(std::move(*bytes));
}

bool StoredForms::reads_back(const StoredKind& kind, std::string_view worked) const noexcept {
  // A leading blank marks an object whose raw values have their original text. decode() does not restore that text.
  return !worked.starts_with(' ') && (kind.schema == nullptr || kind.encoded_as.kind.empty());
}

Status StoredForms::read_json(const StoredKind* kind, SharedBytes& value) const {
  const std::string_view bytes = value.view();
  // The JSON of custom resources needs no conversion: every server writes it with sorted keys, and in any version.
  if (kind == nullptr || kind->schema == nullptr) {
    if (!bytes.ends_with("}\n")) return internal_error("the object is cut short");
    value = value.slice(0, bytes.size() - 1);
    return {};
  }
  auto own = canonical(value.view(), *kind);
  if (own.ok()) value = SharedBytes(std::move(*own));
  return own.status();
}

// Called for values that no codec recognizes, because YAML has no signature.
Status StoredForms::read_yaml(const StoredKind& kind, SharedBytes& value) const {
  json::monotonic_resource arena;
  auto tree = parse_yaml(value.view(), &arena, nullptr);
  if (!tree.ok() || !tree->is_object() || kind_in(tree->get_object()).kind.empty()) return internal_error("the value is no object");
  auto text = canonical_text(scheme_.get().get(), *tree, kind, *schema_in(tree->get_object(), kind.schema));
  if (text.ok()) value = SharedBytes(std::move(*text));
  return text.status();
}

Status StoredForms::read_encoded(const Codec& codec, const StoredKind* kind, SharedBytes& value) const {
  const Schema* schema = kind != nullptr ? kind->schema : nullptr;
  const GroupVersionKind version = codec.stored_kind(value.view());
  const bool foreign = schema != nullptr && !version.kind.empty() && version != kind->kind;
  const auto scheme = scheme_.get();
  if (foreign && !is_known(scheme.get(), version, kind->kind)) return not_registered(version);
  const Schema* other = foreign ? scheme->type_of(version) : nullptr;
  const Schema* written_in = other != nullptr ? other : schema;
  Result<std::string> json;
  if (schema != nullptr && &codec == &protobuf_codec()) {
    json = canonical_message(scheme.get(), *written_in, *kind, value.view());
  } else {
    json = codec.from_stored(written_in, value.view());
    if (json.ok() && schema != nullptr) json = canonical(*json, *kind);
  }
  if (json.ok()) value = SharedBytes(std::move(*json));
  return json.status();
}

Status StoredForms::decode(const StoredKind* kind, SharedBytes& value) const {
  // The content is not checked: the backend has checksums, and parsing every object at every startup is expensive.
  if (is_canonical(kind, value.view())) return {};
  if (const Codec* codec = writer_of(value.view())) {
    return codec == &json_codec() ? read_json(kind, value) : read_encoded(*codec, kind, value);
  }
  if (kind != nullptr && kind->schema != nullptr && read_yaml(*kind, value).ok()) return {};
  // A value under a key without a kind is not an object, and is returned unchanged.
  return kind != nullptr ? internal_error("the value is no object in any form that is known here") : Status();
}

}  // namespace backplane
