"""Integer products: the same model, but for rounding."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from memforest_ray.models.integers import integer_products
from memforest_ray.models.offline import OnnxEmbedder, _files

Floats = NDArray[np.float32]


def saved(path: Path, weights: NDArray[np.int8], scales: Floats) -> Path:
    """A model of one product, its weights stored as encoders store them that are quantised for size."""
    model = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Cast", ["weights"], ["unfolded"], to=onnx.TensorProto.FLOAT),
                helper.make_node("Mul", ["unfolded", "scales"], ["scaled"]),
                helper.make_node("MatMul", ["x", "scaled"], ["y"], name="product"),
            ],
            "one",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, len(weights)])],
            [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, weights.shape[1]])],
            [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(scales, "scales")],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    onnx.save(model, path)
    return path


def product(model: bytes | Path, x: Floats) -> Floats:
    """What the model makes of `x`."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    result: Floats = session.run(None, {"x": x})[0]
    return result


def test_a_product_stays_the_same_but_for_rounding(tmp_path: Path) -> None:
    """Of random weights and inputs: within two hundredths of the largest value."""
    random = np.random.default_rng(7)
    weights = random.integers(-127, 128, (64, 32)).astype(np.int8)
    scales = random.uniform(0.001, 0.02, (1, 32)).astype(np.float32)
    path = saved(tmp_path / "model.onnx", weights, scales)
    x = random.normal(size=(5, 64)).astype(np.float32)
    integers = integer_products(path)
    assert integers is not None
    exact = product(path, x)
    assert np.abs(product(integers, x) - exact).max() <= 0.02 * np.abs(exact).max()


def test_the_largest_values_do_not_overflow(tmp_path: Path) -> None:
    """Extreme weights against extreme inputs: where 8 bits would overflow on processors without VNNI."""
    path = saved(tmp_path / "model.onnx", np.full((64, 8), 127, np.int8), np.ones((1, 8), np.float32))
    integers = integer_products(path)
    assert integers is not None
    assert np.allclose(product(integers, np.ones((1, 64), np.float32)), 127 * 64, rtol=0.01)


def test_unfolded_weights_are_gone(tmp_path: Path) -> None:
    """Neither the old weights nor what unfolded them stays."""
    path = saved(tmp_path / "model.onnx", np.ones((4, 2), np.int8), np.ones((1, 2), np.float32))
    integers = integer_products(path)
    assert integers is not None
    graph = onnx.load_from_string(integers).graph
    assert [node.op_type for node in graph.node] == ["DynamicQuantizeMatMul"]
    assert sorted(tensor.name for tensor in graph.initializer) == ["product_scales", "product_weights"]


def test_scales_of_another_shape_are_left_alone(tmp_path: Path) -> None:
    """Only one scale a column is understood; a scale a row is not."""
    path = saved(tmp_path / "model.onnx", np.ones((2, 2), np.int8), np.ones((2, 1), np.float32))
    assert integer_products(path) is None


async def test_the_shipped_model_is_rewritten_whole() -> None:
    """Every weight of its 6 layers, and a text's vector stays close to the one of the floats."""
    path, _ = _files(None)
    integers = integer_products(path)
    assert integers is not None
    products = [node for node in onnx.load_from_string(integers).graph.node if node.op_type == "DynamicQuantizeMatMul"]
    assert len(products) == 6 * 6
    embedder = OnnxEmbedder()
    text = "Ana moved from Boston to Davis."
    encoded = embedder._tokenizer.encode(text)
    ids = np.array([encoded.ids], dtype=np.int64)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    floats = session.run(None, {one.name: inputs[one.name] for one in session.get_inputs()})[0][0].mean(axis=0)
    vector = (await embedder.embed([text]))[0].astype(np.float32)
    assert vector @ floats / np.linalg.norm(floats) > 0.985
