"""The answers that commands give: one record per result, whose fields are the keys of the published JSON.

Fields without a default are promised by `schema_version`; `Unpublished` ones may change. `kernel` holds the answer of
`analyze`, `workload` that of `predict`; the JSON Schemas are generated from these types (`schema`).
"""
