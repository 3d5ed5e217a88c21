"""Operators whose libraries ask for workspaces, or that check their input on the GPU, for the real torch."""
import torch

linalg = torch.linalg
for dtype in (torch.float32, torch.complex128):
    for shape in ((64, 64), (4, 64, 64), (2, 600, 600)):
        a = torch.zeros(shape, dtype=dtype, device="cuda")
        tau = a[..., 0].contiguous()
        for function in (linalg.cholesky, linalg.qr, linalg.svd, linalg.svdvals, linalg.eigh, linalg.eigvalsh, linalg.eig, linalg.lu,
                         linalg.inv, linalg.pinv, linalg.det, linalg.slogdet, linalg.matrix_rank, linalg.ldl_factor):
            function(a)
        linalg.solve(a, a)
        linalg.lstsq(a, a)
        linalg.lu_solve(*linalg.lu_factor(a), a)
        linalg.solve_triangular(a, a, upper=True)
        linalg.householder_product(a, tau)
        torch.ormqr(a, tau, a)
torch.fft.rfft2(torch.zeros(10, 64, 67, device="cuda"))
identity = torch.eye(100)
sparse, dense = identity.to_sparse_csr().cuda(), torch.zeros(100, 8, device="cuda")
sparse @ dense
sparse @ sparse
torch.add(sparse, sparse)
torch.triangular_solve(dense, sparse)
for cell in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
    cell(8, 16, 2, bidirectional=True).cuda()(torch.zeros(3, 2, 8, device="cuda"))[0].sum().backward()
for options in dict(proj_size=4), dict(proj_size=4, bidirectional=True, bias=False):
    projected = torch.nn.LSTM(8, 16, 3, **options).cuda()
    projected(torch.zeros(3, 2, 8, device="cuda"))[0].sum().backward()
    spans = sorted((weight.data_ptr(), weight.data_ptr() + 4 * weight.numel()) for weight in projected.parameters())
    assert all(before[1] == after[0] for before, after in zip(spans, spans[1:])), spans  # one buffer without gaps
torch.multinomial(torch.ones(2, 5, device="cuda"), 1)
torch.distributions.Distribution.set_default_validate_args(True)  # as Pyro does
torch.distributions.Normal(dense, dense).rsample()
assert torch.all(dense >= 0).item(), "a condition that the program takes for granted"
print("all operators ran")
