"""The simulated program: a small language model with gated attention, trained with AdamW.

The program itself does not exist; its line numbers are invented consistently, one function after another:

    /home/user/train/model.py    Norm, Mixer (attention), Feed, Layer, TideLM
    /home/user/train/data.py     fetch
    /home/user/train/log.py      submit
    /home/user/train/train.py    train_step, evaluate, main
"""
from autograd import Parameter
from stacks import METHOD, PROCESS, TORCH

MODEL, DATA, LOG, TRAIN = ("/home/user/train/" + name for name in ("model.py", "data.py", "log.py", "train.py"))
MODULE = TORCH + "nn/modules/module.py"
LINEAR = TORCH + "nn/modules/linear.py"
FUNCTIONAL = TORCH + "nn/functional.py"
OPTIMIZER = TORCH + "optim/optimizer.py"
ADAM = TORCH + "optim/adam.py"  # AdamW is an Adam with decoupled weight decay
CLIP = TORCH + "nn/utils/clip_grad.py"

FLOAT, LONG = 4, 8


class Shape:
    """The sizes of one run. `halves` puts the second half of the layers on a second device."""

    def __init__(self, width=320, heads=5, layers=4, vocabulary=5003, halves=False):
        self.width, self.heads, self.layers, self.vocabulary = width, heads, layers, vocabulary
        self.inner = 4 * width
        self.halves = halves

    def device_of(self, layer):
        return 1 if self.halves and layer >= self.layers // 2 else 0

    @property
    def last_device(self):
        return self.device_of(self.layers - 1)


class Trainer:
    """The keywords are habits that cost memory:

    keep_gradients  zero_grad(set_to_none=False)
    cache_bias      attention adds a bias that is made once for every length of sequence
    log_logits      every step's logits are copied to the host on a slow stream of their own
    """

    def __init__(self, run, shape, keep_gradients=False, cache_bias=False, log_logits=False):
        self.run, self.shape = run, shape
        self.keep_gradients, self.log_logits = keep_gradients, log_logits
        self.biases = {} if cache_bias else None
        self.batch, self.length = 8, 120
        self.parameters = []
        self.state = []
        self.val_losses = []

    # model.py

    @property
    def rows(self):
        return self.batch * self.length

    def create(self):
        """`TideLM(...).to(device)`: every parameter is copied to its device."""
        shape, width = self.shape, self.shape.width

        def sizes(device, *numbers):
            return [self.parameter(n * FLOAT, device) for n in numbers]

        self.embedding, = sizes(0, shape.vocabulary * width)
        self.layers = [sizes(shape.device_of(i), width, 3 * width * width, width * width, width * width,
                             width, width * shape.inner, width * shape.inner, width * shape.inner)
                       for i in range(shape.layers)]
        self.norm_weight, self.head = sizes(shape.last_device, width, shape.vocabulary * width)

    def parameter(self, nbytes, device):
        run = self.run
        calls = run.stacks.call
        with calls("to", MODULE, 1371), calls("_apply", MODULE, 930), calls("_apply", MODULE, 930), \
                calls("_apply", MODULE, 957), calls("convert", MODULE, 1357):
            result = run.make("_to_copy", nbytes, "THPVariable_to", device=device, kind=Parameter)
        self.parameters.append(result)
        return result

    def linear(self, x, weight, out_bytes):
        run = self.run
        with run.stacks.module(LINEAR):
            run.stacks.at(125)
            return run.op("mm", out_bytes, "MmBackward0", saves=(x, weight), via=("matmul", "linear"),
                          grads=((x, [("mm", x.nbytes)]), (weight, [("mm", weight.nbytes)])))

    def norm(self, x, weight):
        run, at, per_row = self.run, self.run.stacks.at, self.rows * FLOAT
        with run.stacks.module(MODEL):
            at(14)
            square = run.op("pow_Tensor_Scalar", x.nbytes, "PowBackward0", saves=(x,),
                            grads=((x, [("pow_Tensor_Scalar", x.nbytes), ("mul_Tensor", x.nbytes),
                                        ("mul_Tensor", x.nbytes)]),))
            mean = run.op("mean_dim", per_row, "MeanBackward1", grads=((square, [("div_Scalar", x.nbytes)]),))
            run.drop(square)
            shifted = run.op("add_Tensor", per_row, "AddBackward0", grads=((mean, []),))
            run.drop(mean)
            scale = run.op("rsqrt", per_row, "RsqrtBackward0", saves_result=True,
                           grads=((shifted, [("pow_Tensor_Scalar", per_row), ("mul_Tensor", per_row)]),))
            run.drop(shifted)
            at(15)
            scaled = run.op("mul_Tensor", x.nbytes, "MulBackward0", saves=(x, scale),
                            grads=((x, [("mul_Tensor", x.nbytes)]),
                                   (scale, [("mul_Tensor", x.nbytes), ("sum_dim_IntList", per_row)])))
            result = run.op("mul_Tensor", x.nbytes, "MulBackward0", saves=(scaled, weight),
                            grads=((scaled, [("mul_Tensor", x.nbytes)]),
                                   (weight, [("mul_Tensor", x.nbytes), ("sum_dim_IntList", weight.nbytes)])))
            run.drop(scaled, scale)
        return result

    def mixer(self, x, qkv_weight, gate_weight, out_weight):
        run, at, wide = self.run, self.run.stacks.at, x.nbytes
        square = self.batch * self.shape.heads * self.length * self.length * FLOAT
        with run.stacks.module(MODEL):
            at(31)
            q, k, v = run.split(self.linear(x, qkv_weight, 3 * wide), 3)
            at(33)
            raw = run.op("bmm", square, "BmmBackward0", saves=(q, k), via=("matmul",),
                         grads=((q, [("bmm", wide)]), (k, [("bmm", wide)])))
            scores = run.op("mul_Tensor", square, "MulBackward0", grads=((raw, [("mul_Tensor", square)]),))
            run.drop(raw)
            if self.biases is not None:
                self.bias(qkv_weight, square)
                biased = run.op("add_Tensor", square, "AddBackward0", grads=((scores, []),))
                run.drop(scores)
                scores = biased
            at(34)
            weights = run.op("_softmax", square, "SoftmaxBackward0", saves_result=True, via=("softmax",),
                             grads=((scores, [("_softmax_backward_data", square)]),))
            at(35)
            heads = run.op("bmm", wide, "BmmBackward0", saves=(weights, v), via=("matmul",),
                           grads=((weights, [("bmm", square)]), (v, [("bmm", wide)])))
            at(36)
            mixed = run.op("clone", wide, "CloneBackward0", grads=((heads, []),), via=("reshape",))
            run.drop(heads)
            at(37)
            opening = self.linear(x, gate_weight, wide)
            gate = run.op("sigmoid", wide, "SigmoidBackward0", saves_result=True,
                          grads=((opening, [("sigmoid_backward", wide)]),))
            run.drop(opening)
            at(38)
            product = run.op("mul_Tensor", wide, "MulBackward0", saves=(mixed, gate),
                             grads=((mixed, [("mul_Tensor", wide)]), (gate, [("mul_Tensor", wide)])))
            result = self.linear(product, out_weight, wide)
            run.drop(product, gate, mixed, weights, scores, q, k, v)
        return result

    def bias(self, layer, nbytes):
        """One for each layer and length, kept from then on."""
        with self.run.stacks.call("bias", MODEL, 24):
            if (layer, self.length) not in self.biases:
                self.biases[layer, self.length] = self.run.make("clone", nbytes, "THPVariable_contiguous")

    def feed(self, x, up_weight, side_weight, down_weight):
        run, at = self.run, self.run.stacks.at
        wide, inner = x.nbytes, x.nbytes // self.shape.width * self.shape.inner
        with run.stacks.module(MODEL):
            at(53)
            up = self.linear(x, up_weight, inner)
            with run.stacks.call("silu", FUNCTIONAL, 2380):
                active = run.op("silu", inner, "SiluBackward0", saves=(up,),
                                grads=((up, [("silu_backward", inner)]),))
            run.drop(up)
            at(54)
            side = self.linear(x, side_weight, inner)
            product = run.op("mul_Tensor", inner, "MulBackward0", saves=(active, side),
                             grads=((active, [("mul_Tensor", inner)]), (side, [("mul_Tensor", inner)])))
            run.drop(active, side)
            at(55)
            down = self.linear(product, down_weight, wide)
            with run.stacks.module(TORCH + "nn/modules/dropout.py"):
                run.stacks.at(70)
                with run.stacks.call("dropout", FUNCTIONAL, 1425):
                    result = run.op("native_dropout", wide, "NativeDropoutBackward0", extra=(wide // FLOAT,),
                                    grads=((down, [("mul_Tensor", wide)]),))
            run.drop(down, product)
        return result

    def layer(self, x, weights):
        run, at = self.run, self.run.stacks.at
        norm1, qkv, gate, out, norm2, up, side, down = weights

        def residual(x, line, norm_weight, branch, *branch_weights):
            at(line)
            normed = self.norm(x, norm_weight)
            change = branch(normed, *branch_weights)
            run.drop(normed)
            result = run.op("add_Tensor", x.nbytes, "AddBackward0", grads=((x, []), (change, [])))
            run.drop(change)
            return result

        with run.stacks.module(MODEL):
            middle = residual(x, 68, norm1, self.mixer, qkv, gate, out)
            result = residual(middle, 69, norm2, self.feed, up, side, down)
            run.drop(middle)
        return result

    def forward(self, tokens):
        run, at, shape = self.run, self.run.stacks.at, self.shape
        wide = self.rows * shape.width * FLOAT
        with run.stacks.module(MODEL):
            at(90)
            with run.stacks.module(TORCH + "nn/modules/sparse.py"):
                at(192)
                with run.stacks.call("embedding", FUNCTIONAL, 2546):
                    x = run.op("embedding", wide, "EmbeddingBackward0", saves=(tokens,),
                               grads=((self.embedding, [("embedding_dense_backward", self.embedding.nbytes)]),))
            for index, weights in enumerate(self.layers):
                if shape.device_of(index) != run.device:
                    at(92)
                    run.device = shape.device_of(index)
                    moved = run.op("_to_copy", wide, "ToCopyBackward0", entry="THPVariable_to",
                                   grads=((x, [("_to_copy", wide)]),))
                    run.drop(x)
                    x = moved
                at(93)
                after = self.layer(x, weights)
                run.drop(x)
                x = after
            at(94)
            normed = self.norm(x, self.norm_weight)
            run.drop(x)
            logits = self.linear(normed, self.head, self.rows * shape.vocabulary * FLOAT)
            run.drop(normed)
        return logits

    def cross_entropy(self, logits, targets):
        run = self.run
        with run.stacks.call("cross_entropy", FUNCTIONAL, 3458):
            scores = run.op("_log_softmax", logits.nbytes, "LogSoftmaxBackward0", saves_result=True,
                            via=("log_softmax", "cross_entropy_loss"), entry="THPVariable_cross_entropy_loss",
                            grads=((logits, [("_log_softmax_backward_data", logits.nbytes)]),))
            loss = run.op("nll_loss_forward", FLOAT, "NllLossBackward0", saves=(scores, targets), extra=(FLOAT,),
                          via=("cross_entropy_loss",), entry="THPVariable_cross_entropy_loss",
                          grads=((scores, [("nll_loss_backward", scores.nbytes)]),))
            run.drop(scores)
        return loss

    # data.py

    def fetch(self):
        """Tokens and targets, copied on a separate stream while the main stream still computes."""
        run = self.run
        with run.stacks.call("fetch", DATA, 22):
            pair = []
            for line, device in ((22, 0), (23, self.shape.last_device)):
                run.stacks.at(line)
                tensor = run.make("_to_copy", self.rows * LONG, "THPVariable_to", run.copy_stream(device), device)
                run.allocators[device].record_stream(tensor.block, 0)
                pair.append(tensor)
        return pair

    # torch.nn.utils.clip_grad_norm_ and torch.optim.AdamW

    def clip(self):
        run = self.run
        with run.stacks.call("_no_grad_wrapper", CLIP, 36), run.stacks.call("clip_grad_norm_", CLIP, 220, METHOD):
            with run.stacks.call("_get_total_norm", CLIP, 99):
                norms = [run.make("_foreach_norm_Scalar", FLOAT, "THPVariable__foreach_norm", device=p.device)
                         for p in self.parameters]
                run.stacks.at(105)
                joined = run.make("stack", len(norms) * FLOAT, "THPVariable_stack")
                total = run.make("linalg_vector_norm", FLOAT, "THPVariable_linalg_vector_norm")
                run.drop(joined, *norms)
            run.stacks.at(221)
            with run.stacks.call("_clip_grads_with_norm_", CLIP, 158):
                padded = run.make("add_Tensor", FLOAT, "THPVariable_add")
                inverse = run.make("reciprocal", FLOAT, "THPVariable_reciprocal")
                run.drop(padded)
                run.stacks.at(163)
                clamped = run.make("clamp", FLOAT, "THPVariable_clamp")
                run.drop(clamped, inverse)
        return total

    def optimizer_step(self):
        run, calls = self.run, self.run.stacks.call
        run.annotate("START", "Optimizer.step#AdamW.step")
        with calls("wrapper", OPTIMIZER, 516), calls("_use_grad", OPTIMIZER, 81, METHOD), \
                calls("step", ADAM, 237, METHOD):
            if not self.state:
                with calls("_init_group", ADAM, 175):
                    for parameter in self.parameters:
                        for line in (175, 179):
                            run.stacks.at(line)
                            self.state.append(run.make("zeros_like", parameter.nbytes, "THPVariable_zeros_like",
                                                       device=parameter.device))
            run.stacks.at(247)
            with calls("maybe_fallback", OPTIMIZER, 149), calls("adam", ADAM, 949, METHOD):
                for device in sorted({p.device for p in self.parameters}):
                    with calls("_multi_tensor_adam", ADAM, 772):
                        roots = [run.make("_foreach_sqrt", p.nbytes, "THPVariable__foreach_sqrt", device=device)
                                 for p in self.parameters if p.device == device]
                    run.drop(*roots)
        run.annotate("END", "Optimizer.step#AdamW.step")

    def zero_grad(self):
        run = self.run
        run.annotate("START", "Optimizer.zero_grad#AdamW.zero_grad")
        with run.stacks.call("inner", TORCH + "_compile.py", 53), \
                run.stacks.call("zero_grad", OPTIMIZER, 1012, METHOD):
            for parameter in self.parameters if not self.keep_gradients else ():
                run.drop(parameter.grad)
                parameter.grad = None
        run.annotate("END", "Optimizer.zero_grad#AdamW.zero_grad")

    # train.py

    def train_step(self, tokens, targets):
        run, at = self.run, self.run.stacks.at
        with run.stacks.call("train_step", TRAIN, 28):
            logits = self.forward(tokens)
            at(29)
            loss = self.cross_entropy(logits, targets)
            at(30)
            run.backward(loss)
            run.device = 0
            at(31)
            norm = self.clip()
            at(32)
            self.optimizer_step()
            at(33)
            self.zero_grad()
            at(34)
            if self.log_logits:
                self.submit(logits)
            run.drop(norm, loss, logits)

    def submit(self, logits):
        """`copied = logits.to("cpu", non_blocking=True)` on a stream of its own, which reads them until then."""
        allocator = self.run.allocators[logits.device]
        stream = self.run.log_stream(logits.device)
        allocator.lags[stream] = 9000
        allocator.record_stream(logits.block, stream)

    def evaluate(self, batch, keep_graph):
        """Validation. With `keep_graph` it lacks torch.no_grad() and collects the losses with their graphs."""
        run, at = self.run, self.run.stacks.at
        training_batch, self.batch = self.batch, batch
        run.grad_enabled = keep_graph
        with run.stacks.call("evaluate", TRAIN, 41):
            tokens, targets = self.fetch()
            at(42)
            logits = self.forward(tokens)
            at(43)
            loss = self.cross_entropy(logits, targets)
            at(44)
            if keep_graph:
                self.val_losses.append((loss.keep(), run.tape))
                run.tape = []
            at(45)
            run.drop(loss, logits, targets, tokens)
        run.device = 0
        run.grad_enabled = True
        self.batch = training_batch

    def train(self, steps, lengths=(120,), between=None, leaky=None):
        """`main()`. `between(step)` is what the caller does after each step; `leaky` chooses the validation."""
        run, at = self.run, self.run.stacks.at
        with run.stacks.call("<module>", TRAIN, 88, PROCESS), run.stacks.call("main", TRAIN, 55):
            self.create()
            for step in range(steps):
                run.annotate("START", f"ProfilerStep#{step}")
                self.length = lengths[step % len(lengths)]
                at(61)
                tokens, targets = self.fetch()
                at(62)
                self.train_step(tokens, targets)
                at(63)
                run.drop(tokens, targets)
                if leaky is not None:
                    at(66)
                    self.evaluate(batch=4, keep_graph=leaky)
                run.annotate("END", f"ProfilerStep#{step}")
                run.clock.tick(1500)
                if between:
                    at(70)
                    between(step)
