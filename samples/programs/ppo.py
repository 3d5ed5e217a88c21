"""PPO: rollouts without gradients fill buffers on the GPU, from which epochs of small batches learn.

ppo: --gpu 4GiB --steps 0 -- ppo.py
"""
import torch
import truth
from torch import nn
from torch.distributions import Categorical

STEPS, ACTORS, SEEN, ACTIONS = 32, 64, 128, 6

body = nn.Sequential(nn.Linear(SEEN, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh()).cuda()
actor, critic = nn.Linear(256, ACTIONS).cuda(), nn.Linear(256, 1).cuda()
weights = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(weights, lr=3e-4, eps=1e-5)
truth.model(body, actor, critic)
truth.optimizer(optimizer)
seen = torch.zeros(STEPS, ACTORS, SEEN, device="cuda")
actions = torch.zeros(STEPS, ACTORS, dtype=torch.long, device="cuda")
chances, rewards, values = (torch.zeros(STEPS, ACTORS, device="cuda") for _ in range(3))
truth.batch(seen, actions, chances, rewards, values)
for _ in range(3):
    truth.phase("eval")
    with torch.no_grad():
        for step in range(STEPS):
            seen[step] = torch.randn(ACTORS, SEEN, device="cuda")
            hidden = body(seen[step])
            policy = Categorical(logits=actor(hidden), validate_args=False)
            actions[step] = policy.sample()
            chances[step] = policy.log_prob(actions[step])
            values[step] = critic(hidden).squeeze(-1)
        advantages = torch.zeros_like(rewards)
        last = torch.zeros(ACTORS, device="cuda")
        for step in reversed(range(STEPS - 1)):
            last = rewards[step] + 0.99 * values[step + 1] - values[step] + 0.94 * last
            advantages[step] = last
        returns = advantages + values
        truth.note("activation|input|temporary", advantages, returns)
    for part in torch.randperm(STEPS * ACTORS, device="cuda").chunk(4):
        truth.phase("data")
        batch = [whole.flatten(0, 1)[part] for whole in (seen, actions, chances, advantages, returns)]
        truth.batch(batch)
        truth.phase("forward")
        with truth.saving():
            hidden = body(batch[0])
            policy = Categorical(logits=actor(hidden), validate_args=False)
            ratio = (policy.log_prob(batch[1]) - batch[2]).exp()
            gain = torch.minimum(ratio * batch[3], ratio.clamp(0.8, 1.2) * batch[3]).mean()
            loss = -gain + 0.5 * (critic(hidden).squeeze(-1) - batch[4]).square().mean() - 0.01 * policy.entropy().mean()
        truth.phase("backward")
        loss.backward()
        truth.phase("optimizer_step")
        torch.nn.utils.clip_grad_norm_(weights, 0.5)
        optimizer.step()
        optimizer.zero_grad()
