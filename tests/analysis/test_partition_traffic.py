"""Traffic over memory partitions in `analyze`: closed forms of rows and columns, and silence elsewhere."""

import io
import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

import warpbound
from warpbound.analysis import Settings
from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.partition_traffic import partition_traffic
from warpbound.emulate import trace
from warpbound.kernel_launch import launch
from warpbound.machine import gpu, override
from warpbound.report import detail_tables, html
from warpbound.report.document import as_json, document, schema

SOURCE = """
extern "C" __global__ void rows(float* to) { to[blockIdx.x * 32 + threadIdx.x] = 1.0f; }
extern "C" __global__ void columns(float* to) { to[threadIdx.x * 4096 + blockIdx.x] = 1.0f; }
"""


def followed(kernel, partitions, blocks):
    board = override(gpu("t4"), {"memory_partitions": partitions, "partition_width": 256.0})
    program = warpbound.compile(SOURCE, board, kernel=kernel)
    args = {"to": np.zeros(32 * 4096, np.float32)}
    seen = trace(program, launch(grid=(4096, 1, 1), block=(32, 1, 1), args=args), list(blocks))
    return partition_traffic(seen, board)


@pytest.mark.parametrize("partitions", [6, 8])
def test_rows_are_even(partitions):
    # 2 warps of 128 B fill 256 B: 48 blocks fill 24 turns, a whole number of rounds of 6 and of 8
    found = followed("rows", partitions, range(48))
    assert found.segments == [48 * 4 // partitions] * partitions
    assert (found.camping, found.camping_at_once) == (1.0, 1.0)


def test_columns_camp():
    # rows of 16 KiB = 64 widths: in 8 partitions all 32 lanes of a warp hit one; 64 blocks are one width on
    camping = followed("columns", 8, range(4))
    assert camping.segments == [4 * 32, 0, 0, 0, 0, 0, 0, 0]
    assert (camping.camping, camping.camping_at_once) == (8.0, 8.0)
    apart = followed("columns", 8, [0, 64, 128, 192])  # four blocks in four partitions at one time
    assert apart.segments == [32, 32, 32, 32, 0, 0, 0, 0]
    assert apart.camping_at_once == 2.0
    # 64 mod 6 = 4, so that lanes take turns over three of six partitions: 11, 11 and 10 of them
    assert sorted(followed("columns", 6, [0]).segments) == [0, 0, 0, 10, 11, 11]


def test_the_map_has_the_partition_of_each_access_of_a_blocks_first_warp():
    found = followed("rows", 8, [0, 3, 16, 19]).map  # 128 B each: two blocks to a partition
    assert (found.blocks, found.partition) == ([0, 3, 16, 19], [[0], [1], [0], [1]])
    assert followed("columns", 6, [0, 64]).map.partition == [[0], [1]]
    many = followed("rows", 8, range(100)).map
    assert len(many.blocks) == len(many.partition) == 32


def test_a_report_has_the_map_where_the_mapping_is_known():
    board = override(gpu("t4"), {"memory_partitions": 8.0, "partition_width": 256.0})
    program = warpbound.compile(SOURCE, board, kernel="columns")
    asked = launch(grid=(128, 1, 1), block=(32, 1, 1), args={"to": np.zeros(32 * 4096, np.float32)})
    settings = Settings(views=html.VIEWS)
    result = analyze_kernel(program, board, asked, settings)
    Draft202012Validator(schema("analyze")).validate(json.loads(as_json(document("analyze", [result]))))
    text = html.page([result], "warpbound analyze")
    assert "Where sampled blocks meet memory partitions" in text
    assert "What each partition carries" in text
    without = html.page([analyze_kernel(program, gpu("t4"), asked, settings)], "warpbound analyze")
    assert "meet memory partitions" not in without


def test_only_boards_with_a_known_mapping():
    board = gpu("t4")
    program = warpbound.compile(SOURCE, board, kernel="rows")
    asked = launch(grid=(64, 1, 1), block=(32, 1, 1), args={"to": np.zeros(2048, np.float32)})
    result = analyze_kernel(program, board, asked)
    assert result.execution.partitions is None
    assert "partitions" not in printed(result)
    known = override(board, {"memory_partitions": 8.0, "partition_width": 256.0})
    result = analyze_kernel(program, known, asked)
    assert sum(result.execution.partitions.segments) == result.sample.blocks * 4
    assert "partitions" in printed(result)
    assert "pages of 2 MiB" in printed(result)


def printed(result):
    to = io.StringIO()
    Console(file=to, width=100).print(detail_tables.memory(result))
    return to.getvalue()
