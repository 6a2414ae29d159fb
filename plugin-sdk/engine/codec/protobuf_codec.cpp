// Protobuf as upstream writes it: `k8s\0` and runtime.Unknown around an object's message; frames begin with their length.
//
// An entry's encoding is one buffer with the frame of its event, the envelope and the message: watches, GET and lists each send a part of
// it.  Kinds without a message (custom resources) have an encoding of their metadata only.
#include "engine/codec.hpp"
#include "engine/raw_json.hpp"
#include "schema/hidden_annotations.hpp"
#include "schema/protobuf_plan.hpp"
#include "schema/scan.hpp"

namespace backplane BACKPLANE_API {
namespace {

using schema::append_varint;

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr std::string_view kEnvelopeEnd{"\x1a\0\x22\0", 4};  // no content encoding, no content type
constexpr std::size_t kLengthSize = 4;                       // the size of a frame's length
constexpr std::string_view kEmptyMetadata{"\x0a\0", 2};

std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void append_field(std::string& out, char tag, std::string_view bytes) {
  out.push_back(tag);
  append_varint(out, bytes.size());
  out.append(bytes);
}

// The bytes of an envelope before its message.
std::string envelope_head(std::string_view api_version, std::string_view kind, std::size_t message_size) {
  std::string type_meta;
  append_field(type_meta, '\x0a', api_version);
  append_field(type_meta, '\x12', kind);
  std::string out(kMagic);
  append_field(out, '\x0a', type_meta);
  out.push_back('\x12');
  append_varint(out, message_size);
  return out;
}

// The length and the bytes of a WatchEvent before the object, which is `size` bytes of magic, envelope and message.
std::string frame_head(EventType type, std::size_t size) {
  static constexpr std::string_view kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  std::string event;
  append_field(event, '\x0a', kNames[static_cast<std::size_t>(type)]);
  event.push_back('\x12');
  append_varint(event, 1 + varint_size(size) + size);
  event.push_back('\x0a');
  append_varint(event, size);
  const std::size_t length = event.size() + size;
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(length >> shift));
  return out.append(event);
}

struct TypeMeta {
  std::string kind;
  std::string api_version;
};

// apiVersion and kind of canonical JSON; both are near its beginning.
TypeMeta type_meta_of(std::string_view json) {
  TypeMeta out;
  schema::Scanner scanner(json);
  std::string_view key;
  for (scanner.enter('{'); (out.kind.empty() || out.api_version.empty()) && scanner.next_key(key);) {
    const std::string_view value = scanner.value();
    if (value.size() < 2) continue;
    if (key == "kind") out.kind = value.substr(1, value.size() - 2);
    if (key == "apiVersion") out.api_version = value.substr(1, value.size() - 2);
  }
  return out;
}

const Schema& meta_type(std::string_view name) {
  static const std::shared_ptr<const SchemaSet> set = meta_schemas();
  return *set->find("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(name));
}

const Schema& metadata_only_schema() {
  static const Schema& schema = meta_type("PartialObjectMetadata");
  return schema;
}

bool has_message(const Presentation& as) noexcept { return as.schema != nullptr && as.schema->has_protobuf(); }

// ListMeta, as a message.
Result<std::string> list_meta(const ListFacts& facts) {
  static const Schema& schema = meta_type("ListMeta");
  const std::string version = facts.revision == 0 ? std::string() : std::to_string(facts.revision);
  std::string json = "{\"resourceVersion\":\"" + version + "\",\"continue\":";
  append_json_string(json, facts.continue_token);
  if (facts.remaining) json.append(",\"remainingItemCount\":").append(std::to_string(*facts.remaining));
  std::string message;
  Status encoded = schema.encode_protobuf(json.append("}"), message);
  if (!encoded.ok()) return encoded;
  return message;
}

Result<EncodedForm> make_form(const Presentation& as, const ObjectEntry& entry) {
  const SharedBytes owner = kept_json(entry);
  const std::string_view json = owner.view();
  const bool whole = has_message(as);
  std::string message;
  message.reserve(json.size());
  Status encoded = (whole ? *as.schema : metadata_only_schema()).encode_protobuf(json, message);
  if (!encoded.ok()) return encoded;
  EncodedForm form;
  std::string bytes;
  if (whole) {
    const TypeMeta type = type_meta_of(json);
    const std::string envelope = envelope_head(type.api_version, type.kind, message.size());
    const std::size_t size = envelope.size() + message.size() + kEnvelopeEnd.size();
    const std::string frame = entry.event() ? frame_head(*entry.event(), size) : std::string();
    bytes.reserve(frame.size() + size);
    bytes.append(frame).append(envelope).append(message).append(kEnvelopeEnd);
    form.whole = static_cast<std::uint32_t>(frame.size());
    form.whole_size = static_cast<std::uint32_t>(size);
    form.item = static_cast<std::uint32_t>(frame.size() + envelope.size());
  } else {
    bytes = std::string(message);
  }
  form.item_size = static_cast<std::uint32_t>(message.size());
  form.bytes = SharedBytes(std::move(bytes));
  return form;
}

class ProtobufCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "protobuf"; }
  std::string_view media_type() const noexcept override { return "application/vnd.kubernetes.protobuf"; }
  std::string_view stream_type() const noexcept override { return "application/vnd.kubernetes.protobuf;stream=watch"; }
  bool is_text() const noexcept override { return false; }
  bool can_write(const Presentation& as) const noexcept override { return as.metadata_only || has_message(as); }

  Status object(const Presentation& as, const ObjectEntry& entry, std::vector<SharedBytes>& out) const override {
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    if (as.metadata_only) {
      auto body = metadata_body(as, entry, **form);
      if (!body.ok()) return std::move(body).status();
      out.emplace_back(std::move(*body));
    } else {
      out.push_back((*form)->bytes.slice((*form)->whole, (*form)->whole_size));
    }
    return {};
  }

  bool measures_lists() const noexcept override { return true; }
  Status measure(const Presentation& as, const ObjectEntry& entry, ListMeasure& sum) const override {
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    const auto item = item_of(as, entry, **form);
    if (!item.ok()) return item.status();
    const std::size_t size = item->bytes().size();
    ++sum.items;
    sum.bytes += 1 + varint_size(size) + size;
    return {};
  }
  Result<ListTexts> list(const Presentation& as, const ListFacts& facts, const ListMeasure& measure) const override {
    auto meta = list_meta(facts);
    if (!meta.ok()) return std::move(meta.status());
    std::string around;
    append_field(around, items_first(as) ? '\x12' : '\x0a', *meta);
    ListTexts texts;
    texts.head = envelope_head(facts.api_version, facts.kind, around.size() + measure.bytes);
    (items_first(as) ? texts.tail : texts.head).append(around);
    texts.tail.append(kEnvelopeEnd);
    texts.empty = texts.head + texts.tail;
    return texts;
  }
  Status item(const Presentation& as, const ObjectEntry& entry, ItemSink& out) const override {
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    const auto message = item_of(as, entry, **form);
    if (!message.ok()) return message.status();
    out.text().push_back(items_first(as) ? '\x0a' : '\x12');
    append_varint(out.text(), message->bytes().size());
    if (message->made) {
      out.text().append(*message->made);
    } else {
      out.put((*form)->bytes, message->window);
    }
    return {};
  }

  Status frame(const Presentation& as, EventType type, const ObjectEntry& entry, std::vector<SharedBytes>& out) const override {
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    if (as.metadata_only) {
      const auto body = metadata_body(as, entry, **form);
      if (!body.ok()) return body.status();
      out.emplace_back(frame_head(type, body->size()).append(*body));
    } else if (entry.event() == type) {
      out.push_back((*form)->bytes);
    } else {
      out.emplace_back(frame_head(type, (*form)->whole_size));
      out.push_back((*form)->bytes.slice((*form)->whole, (*form)->whole_size));
    }
    return {};
  }
  std::size_t frame_prefix() const noexcept override { return kLengthSize; }

  bool wrote(std::string_view stored) const noexcept override { return stored.starts_with(kMagic); }
  GroupVersionKind stored_kind(std::string_view stored) const override {
    const auto envelope = open_protobuf_envelope(stored);
    if (!envelope.ok()) return {};
    const GroupVersion version = GroupVersion::parse(envelope->api_version);
    return {version.group, version.version, std::string(envelope->kind)};
  }
  Result<std::string> to_stored(const Schema* schema, std::string json) const override {
    if (schema == nullptr || !schema->has_protobuf()) return json;
    std::string message;
    message.reserve(json.size());
    Status encoded = schema->encode_protobuf(json, message);
    if (!encoded.ok()) return encoded;
    const TypeMeta type = type_meta_of(json);
    std::string out = envelope_head(type.api_version, type.kind, message.size());
    return out.append(message).append(kEnvelopeEnd);
  }
  Result<std::string> from_stored(const Schema* schema, std::string_view stored) const override {
    auto envelope = open_protobuf_envelope(stored);
    if (!envelope.ok()) return internal_error(envelope.status().message());
    if (schema == nullptr) return internal_error("stored protobuf of a kind without a type");
    json::monotonic_resource arena;
    auto tree = schema->decode_protobuf(envelope->raw, &arena);
    if (!tree.ok()) return internal_error(tree.status().message());
    Object& object = tree->get_object();
    object["kind"] = envelope->kind;
    object["apiVersion"] = envelope->api_version;
    Status normal = schema->normalize(*tree, nullptr);
    if (!normal.ok()) return internal_error(normal.message());
    return kept_json(*tree);
  }

 private:
  Result<const EncodedForm*> form_of(const Presentation& as, const ObjectEntry& entry) const {
    if (const EncodedForm* made = entry.form(*this)) return made;
    if (!can_write(as)) return Status(Reason::kNotAcceptable, "objects of this type have no protobuf form");
    auto form = make_form(as, entry);
    if (!form.ok()) return std::move(form.status());
    return &entry.publish(*this, std::move(*form));
  }

  // meta.k8s.io/v1beta1 numbers the two members of its list in the reverse order.
  static bool items_first(const Presentation& as) noexcept { return as.metadata_only && as.beta; }

  // The message as an item of a list: a shared window of the encoded object, or encoded for this response.
  struct Item {
    std::string_view window;
    std::optional<std::string> made;

    std::string_view bytes() const noexcept { return made ? std::string_view(*made) : window; }
  };

  // The object's message, or its first field, which is metadata in every kind.
  static Result<Item> item_of(const Presentation& as, const ObjectEntry& entry, const EncodedForm& form) {
    const std::string_view message = form.bytes.view().substr(form.item, form.item_size);
    if (!as.metadata_only) return Item{message, std::nullopt};
    if (message.empty() || message.front() != '\x0a') return Item{{}, std::string(kEmptyMetadata)};
    if (schema::has_hidden_annotations(as.schema, entry.json().view())) return without_hidden(as, entry);
    std::size_t size = 0, at = 1;
    for (unsigned shift = 0; at < message.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      size |= std::size_t(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    return Item{message.substr(0, at + size), std::nullopt};
  }

  // Metadata encoded from its visible part.
  static Result<Item> without_hidden(const Presentation& as, const ObjectEntry& entry) {
    std::string json;
    append_metadata_json(json, entry, as);
    Item item{{}, std::string()};
    Status encoded = metadata_only_schema().encode_protobuf(json, *item.made);
    if (!encoded.ok()) return encoded;
    return item;
  }

  static Result<std::string> metadata_body(const Presentation& as, const ObjectEntry& entry, const EncodedForm& form) {
    const auto item = item_of(as, entry, form);
    if (!item.ok()) return item.status();
    std::string out = envelope_head(as.meta_version(), "PartialObjectMetadata", item->bytes().size());
    return out.append(item->bytes()).append(kEnvelopeEnd);
  }
};

}  // namespace

const Codec& protobuf_codec() {
  static const ProtobufCodec codec;
  return codec;
}

}  // namespace BACKPLANE_API
