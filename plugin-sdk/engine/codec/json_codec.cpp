// JSON: every entry has its JSON from the start, so objects and frames share parts of these bytes.
#include "backplane/types/json_reading.hpp"
#include "engine/codec.hpp"
#include "engine/raw_json.hpp"
#include "schema/hidden_annotations.hpp"
#include "schema/scan.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::string_view kNewline = "\n";
constexpr std::string_view kFrameEnd = "}\n";

// Metadata with sorted keys, in the order of ObjectMeta.
void append_in_order(std::string& out, std::string_view metadata) {
  static const Schema& schema = *meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  std::optional<Value> tree = read_json(metadata);
  // Stored bytes are canonical; other bytes are sent unchanged.
  if (!tree || !schema.normalize(*tree, nullptr).ok()) {
    out.append(metadata);
  } else {
    append_json(out, *tree);
  }
}

std::string quoted_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// ListMeta as JSON. `sorted`: for custom resources, whose members are sorted and include an empty continue.  A list of objects that were
// made for it has no revision.
std::string list_meta(const ListFacts& list, bool sorted) {
  if (list.revision == 0) return "{}";
  const std::string version = "\"resourceVersion\":\"" + std::to_string(list.revision) + "\"";
  const std::string token = "\"continue\":" + quoted_json(list.continue_token);
  const std::string remaining = list.remaining ? "\"remainingItemCount\":" + std::to_string(*list.remaining) : std::string();
  const std::string& first = sorted ? token : version;
  const std::string second = sorted ? remaining : list.continue_token.empty() ? std::string() : token;
  const std::string& third = sorted ? version : remaining;
  std::string out = "{" + first;
  if (!second.empty()) out.append(",").append(second);
  if (!third.empty()) out.append(",").append(third);
  return out.append("}");
}

class JsonCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "json"; }
  std::string_view media_type() const noexcept override { return "application/json"; }
  std::string_view stream_type() const noexcept override { return "application/json"; }
  bool is_text() const noexcept override { return true; }
  bool can_write(const Presentation&) const noexcept override { return true; }

  Status object(const Presentation& as, const ObjectEntry& entry, std::vector<SharedBytes>& out) const override {
    if (as.metadata_only) {
      std::string text;
      append_metadata_json(text, entry, as);
      text.append(kNewline);
      out.emplace_back(std::move(text));
    } else {
      out.push_back(entry.json());
      out.push_back(SharedBytes::from_static(kNewline));
    }
    return {};
  }

  bool measures_lists() const noexcept override { return false; }
  Status measure(const Presentation&, const ObjectEntry&, ListMeasure&) const override { return {}; }
  Result<ListTexts> list(const Presentation& as, const ListFacts& facts, const ListMeasure&) const override {
    const bool sorted = as.custom() && !as.metadata_only;
    const std::string kind = "\"kind\":" + quoted_json(facts.kind);
    const std::string version = "\"apiVersion\":" + quoted_json(facts.api_version);
    const std::string meta = "\"metadata\":" + list_meta(facts, sorted);
    ListTexts texts;
    if (sorted) {
      texts.head = "{" + version + ",\"items\":[";
      texts.tail = "]," + kind + "," + meta + "}\n";
    } else {
      texts.head = "{" + kind + "," + version + "," + meta + ",\"items\":[";
      texts.tail = "]}\n";
    }
    texts.empty = texts.head + texts.tail;
    texts.separator = ",";
    return texts;
  }
  Status item(const Presentation& as, const ObjectEntry& entry, ItemSink& out) const override {
    if (as.metadata_only) {
      append_metadata_json(out.text(), entry, as);
      return {};
    }
    if (entry.item_offset() != 0) out.text().push_back('{');
    const SharedBytes json = entry.json();
    out.put(json, json.view().substr(entry.item_offset()));
    return {};
  }

  Status frame(const Presentation& as, EventType type, const ObjectEntry& entry, std::vector<SharedBytes>& out) const override {
    const bool whole = !as.metadata_only || type == EventType::kError;
    if (whole && entry.event() == type) {
      out.push_back(entry.json_frame());
    } else if (whole) {
      out.push_back(SharedBytes::from_static(json_frame_head(type)));
      out.push_back(entry.json());
      out.push_back(SharedBytes::from_static(kFrameEnd));
    } else {
      std::string text(json_frame_head(type));
      append_metadata_json(text, entry, as);
      out.emplace_back(std::move(text.append(kFrameEnd)));
    }
    return {};
  }

  // A leading blank marks text whose raw values are kept as they were sent.
  bool wrote(std::string_view stored) const noexcept override { return stored.starts_with('{') || stored.starts_with(" {"); }
  Result<std::string> to_stored(const Schema*, std::string json) const override { return json; }
  Result<std::string> from_stored(const Schema*, std::string_view stored) const override { return std::string(stored); }
};

}  // namespace

std::string_view json_frame_head(EventType type) noexcept {
  static constexpr std::string_view kHeads[] = {R"({"type":"ADDED","object":)", R"({"type":"MODIFIED","object":)",
                                                R"({"type":"DELETED","object":)", R"({"type":"BOOKMARK","object":)",
                                                R"({"type":"ERROR","object":)"};
  return kHeads[static_cast<std::size_t>(type)];
}

std::string_view json_frame_tail() noexcept { return kFrameEnd; }

void append_metadata_json(std::string& out, const ObjectEntry& entry, const Presentation& as) {
  out.append(R"({"kind":"PartialObjectMetadata","apiVersion":")").append(as.meta_version()).append(R"(","metadata":)");
  const SharedBytes json = entry.json();
  std::string_view key, metadata;
  schema::Scanner scanner(json.view());
  for (scanner.enter('{'); metadata.empty() && scanner.next_key(key);) {
    const std::string_view value = scanner.value();
    if (key == "metadata") metadata = value;
  }
  if (metadata.empty()) {
    out.append("{}");
  } else if (as.custom()) {
    append_in_order(out, metadata);
  } else if (schema::has_hidden_annotations(as.schema, metadata)) {
    out.append(schema::without_hidden_annotations(*as.schema, metadata));
  } else {
    out.append(metadata);
  }
  out.push_back('}');
}

const Codec& json_codec() {
  static const JsonCodec codec;
  return codec;
}

namespace {

// A codec that is only the key of a slot, for a variant of JSON whose raw values are as clients sent them.
const Codec& kept_slot() {
  static const JsonCodec codec;
  return codec;
}

}  // namespace

SharedBytes kept_json(const ObjectEntry& entry) {
  const EncodedForm* kept = entry.form(kept_slot());
  return kept != nullptr ? kept->bytes : entry.json();
}

void set_kept_json(ObjectEntry& entry, SharedBytes json) {
  EncodedForm form;
  form.bytes = std::move(json);
  entry.publish(kept_slot(), std::move(form));
}

}  // namespace BACKPLANE_API
