// Calls a storage transformer, which a plugin implements: its exceptions become errors, and the caller resumes on its executor.
//
// Thread-safety: functions of their arguments.
// Errors:        the transformer's; kInternalError with the text of an exception.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage_transformer.hpp"

namespace backplane {

using TransformerRef = std::shared_ptr<const StorageTransformer>;

// The transformer for `resource`; null: there is none.  One that fails every call if find() throws.
TransformerRef find_transformer(const StorageTransformers& transformers, const GroupResource& resource);

// Does not wait; nullopt if the transformer must wait. `transformer` may be null: the bytes are unchanged.
std::optional<Result<StorageTransformer::Plain>> from_storage_now(const TransformerRef& transformer, std::string_view key,
                                                                  const SharedBytes& bytes);
// Without waiting if possible.
Task<Result<StorageTransformer::Plain>> from_storage(TransformerRef transformer, std::string key, SharedBytes bytes);
Task<Result<SharedBytes>> to_storage(TransformerRef transformer, std::string key, SharedBytes bytes);

}  // namespace backplane
