// CBOR as upstream writes it: the self-described CBOR tag around each object, and watches as a sequence of such items.
//
// An entry's encoding is one buffer with the frame of its event and the object: watches, GET and lists each send a part of it. After kind
// and apiVersion, which come first, an object's members have the same bytes in lists.
#include "engine/cbor.hpp"
#include "engine/codec.hpp"
#include "schema/cbor_encode.hpp"

namespace backplane BACKPLANE_API {
namespace {

using schema::append_cbor_text;

constexpr std::string_view kSelfDescribed{"\xD9\xD9\xF7", 3};
constexpr std::size_t kTypeMetaMembers = 2;

Status unreadable() { return internal_error("the object's bytes are not valid JSON of its kind"); }

// A definite head at `at` of items that this codec wrote: its argument, and the offset after it.
std::pair<std::size_t, std::size_t> read_head(std::string_view bytes, std::size_t at) noexcept {
  const auto first = static_cast<unsigned char>(bytes[at++]);
  std::size_t argument = first & 0x1F;
  if (argument < 24) return {argument, at};
  std::size_t size = std::size_t{1} << (argument - 24);
  for (argument = 0; size > 0; --size) argument = argument << 8 | static_cast<unsigned char>(bytes[at++]);
  return {argument, at};
}

// The offset of the members after kind and apiVersion.
std::size_t end_of_type_meta(std::string_view bytes, std::size_t object) noexcept {
  std::size_t at = read_head(bytes, object).second;
  for (std::size_t text = 0; text < 2 * kTypeMetaMembers; ++text) {
    const auto [size, begin] = read_head(bytes, at);
    at = begin + size;
  }
  return at;
}

// The bytes of a watch event before the object.
std::string frame_head(EventType type) {
  static constexpr std::string_view kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  std::string out(kSelfDescribed);
  schema::append_cbor_map(out, 2);
  append_cbor_text(out, "type");
  append_cbor_text(out, kNames[static_cast<std::size_t>(type)]);
  append_cbor_text(out, "object");
  return out;
}

Result<EncodedForm> make_form(const Presentation& as, const ObjectEntry& entry) {
  const SharedBytes json = entry.json();
  EncodedForm form;
  std::string bytes = entry.event() ? frame_head(*entry.event()) : std::string();
  form.whole = static_cast<std::uint32_t>(bytes.size());
  bytes.reserve(bytes.size() + json.size());
  bytes.append(kSelfDescribed);
  const std::size_t object = bytes.size();
  if (!schema::encode_cbor(as.schema, json.view(), bytes)) return unreadable();
  form.item = static_cast<std::uint32_t>(entry.item_offset() != 0 ? end_of_type_meta(bytes, object) : object);
  form.whole_size = static_cast<std::uint32_t>(bytes.size() - form.whole);
  form.item_size = static_cast<std::uint32_t>(bytes.size() - form.item);
  form.bytes = SharedBytes(std::move(bytes));
  return form;
}

// The encoding of the metadata alone, without the tag.
Status append_metadata(std::string& out, const Presentation& as, const ObjectEntry& entry) {
  std::string json;
  append_metadata_json(json, entry, as);
  return schema::encode_cbor(nullptr, json, out) ? Status() : unreadable();
}

// Appends ListMeta. For custom resources, an empty continue is encoded, too.
void append_list_meta(std::string& out, const Presentation& as, const ListFacts& facts) {
  const bool with_token = !facts.continue_token.empty() || (as.custom() && !as.metadata_only);
  schema::append_cbor_map(out, 1u + (with_token ? 1u : 0u) + (facts.remaining ? 1u : 0u));
  append_cbor_text(out, "resourceVersion");
  append_cbor_text(out, std::to_string(facts.revision));
  if (with_token) {
    append_cbor_text(out, "continue");
    append_cbor_text(out, facts.continue_token);
  }
  if (facts.remaining) {
    append_cbor_text(out, "remainingItemCount");
    schema::append_cbor_integer(out, *facts.remaining);
  }
}

class CborCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "cbor"; }
  std::string_view media_type() const noexcept override { return "application/cbor"; }
  std::string_view stream_type() const noexcept override { return "application/cbor-seq"; }
  bool is_text() const noexcept override { return false; }
  bool can_write(const Presentation&) const noexcept override { return true; }

  Status object(const Presentation& as, const ObjectEntry& entry, std::vector<SharedBytes>& out) const override {
    if (as.metadata_only) {
      std::string body(kSelfDescribed);
      Status made = append_metadata(body, as, entry);
      if (made.ok()) out.emplace_back(std::move(body));
      return made;
    }
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    out.push_back((*form)->bytes.slice((*form)->whole, (*form)->whole_size));
    return {};
  }

  // The number of items precedes the first item.
  bool measures_lists() const noexcept override { return true; }
  Status measure(const Presentation&, const ObjectEntry&, ListMeasure& sum) const override {
    ++sum.items;
    return {};
  }
  Result<ListTexts> list(const Presentation& as, const ListFacts& facts, const ListMeasure& measure) const override {
    ListTexts texts;
    texts.head = kSelfDescribed;
    schema::append_cbor_map(texts.head, 4);
    append_cbor_text(texts.head, "kind");
    append_cbor_text(texts.head, facts.kind);
    append_cbor_text(texts.head, "apiVersion");
    append_cbor_text(texts.head, facts.api_version);
    append_cbor_text(texts.head, "metadata");
    append_list_meta(texts.head, as, facts);
    append_cbor_text(texts.head, "items");
    schema::append_cbor_array(texts.head, measure.items);
    texts.empty = texts.head;
    return texts;
  }
  Status item(const Presentation& as, const ObjectEntry& entry, ItemSink& out) const override {
    if (as.metadata_only) return append_metadata(out.text(), as, entry);
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    const std::string_view bytes = (*form)->bytes.view();
    if (entry.item_offset() != 0) {
      const std::size_t members = read_head(bytes, (*form)->whole + kSelfDescribed.size()).first;
      schema::append_cbor_map(out.text(), members - kTypeMetaMembers);
    }
    out.put((*form)->bytes, bytes.substr((*form)->item, (*form)->item_size));
    return {};
  }

  Status frame(const Presentation& as, EventType type, const ObjectEntry& entry, std::vector<SharedBytes>& out) const override {
    if (as.metadata_only && type != EventType::kError) {
      std::string text = frame_head(type).append(kSelfDescribed);
      Status made = append_metadata(text, as, entry);
      if (made.ok()) out.emplace_back(std::move(text));
      return made;
    }
    auto form = form_of(as, entry);
    if (!form.ok()) return std::move(form.status());
    if (entry.event() == type) {
      out.push_back((*form)->bytes);
    } else {
      out.emplace_back(frame_head(type));
      out.push_back((*form)->bytes.slice((*form)->whole, (*form)->whole_size));
    }
    return {};
  }

  bool wrote(std::string_view stored) const noexcept override { return stored.starts_with(kSelfDescribed); }
  Result<std::string> to_stored(const Schema* schema, std::string json) const override {
    std::string out(kSelfDescribed);
    out.reserve(json.size());
    if (!schema::encode_cbor(schema, json, out)) return unreadable();
    return out;
  }
  Result<std::string> from_stored(const Schema* schema, std::string_view stored) const override {
    json::monotonic_resource arena;
    auto tree = parse_cbor(stored, &arena);
    if (!tree.ok()) return internal_error(tree.status().message());
    Status normal = schema == nullptr ? Status() : schema->normalize(*tree, nullptr);
    if (!normal.ok()) return internal_error(normal.message());
    return to_json(*tree);
  }

 private:
  Result<const EncodedForm*> form_of(const Presentation& as, const ObjectEntry& entry) const {
    if (const EncodedForm* made = entry.form(*this)) return made;
    auto form = make_form(as, entry);
    if (!form.ok()) return std::move(form.status());
    return &entry.publish(*this, std::move(*form));
  }
};

}  // namespace

const Codec& cbor_codec() {
  static const CborCodec codec;
  return codec;
}

}  // namespace BACKPLANE_API
