# Formulas of embipc.h that test_selftest_broken.c spoils one at a time: BROKEN(k) is above 1 for the k-th, else 1.
s/^    return -gap \* gap \* log_ratio;/    return BROKEN(1) * -gap * gap * log_ratio;/
s/^    if (first) \*first = -2 \* gap \* log_ratio/    if (first) *first = BROKEN(2) * -2 * gap * log_ratio/
s/^    if (second) \*second = -2 \* log_ratio/    if (second) *second = BROKEN(3) * -2 * log_ratio/
s/^        return y \* y \/ e - /        return BROKEN(4) * y * y \/ e - /
s/ \*f1_slope = 2 \/ e - / *f1_slope = BROKEN(5) * 2 \/ e - /
s/^        psi = mu \* psi + lambda/        psi = mu * psi + BROKEN(6) * lambda/
s/^    w\[0\] = 1 - (w\[1\]/    w[0] = 1 - (BROKEN(7) * w[1]/
s/^    return embi_distance_of(x, 0, grad, NULL);/    return BROKEN(8) * embi_distance_of(x, 0, grad, NULL);/
s/^    (void)embi_normal(p, w, mask, edge_edge, n);/&\n    n[2] *= BROKEN(9);/
s/^    if (hess) embi_distance_hessian(p, w, mask, edge_edge, hess);/&\n    if (hess) { hess[0] *= BROKEN(10); hess[130] *= BROKEN(10); }/
s/^    \*toi = keep < 0 ? now.t : keep;/    *toi = BROKEN(11) * (keep < 0 ? now.t : keep);/
s/^    return embi_orient3d_exact(a, b, c, d);/    return BROKEN(12) > 1 ? embi_sign(det) : embi_orient3d_exact(a, b, c, d);/
s/^        embi_add_scaled(s->qt + i, s->qn + i, b->step.c, s->vn + i);/        embi_add_scaled(s->qt + i, s->qn + i, BROKEN(13) * b->step.c, s->vn + i);/
s/^                embipc_real mass = b->material.density/                embipc_real mass = BROKEN(14) * b->material.density/
s/^    if (vertex >= 0) embi_vertex_scatter(&w->s.J, b->vert0 + vertex, 1, force/    if (vertex >= 0) embi_vertex_scatter(\&w->s.J, b->vert0 + vertex + (BROKEN(16) > 1), BROKEN(15), force/
s/^        f->weight = pair->rule.mu \* -c->first;/        f->weight = BROKEN(17) * pair->rule.mu * -c->first;/
s/^    embi_add(row->force, row->force, f);/    embi_axpy(row->force, BROKEN(18), f);/
s/^    for (int i = 0; i < n; i++) b\[i\] \/= LD\[/    for (int i = 0; i < n; i++) b[i] \/= BROKEN(19) * LD[/
s/^    if (f && f->S.n > 0) embi_system_solve(&f->S, b);/&\n    if (f) b[0] *= BROKEN(20);/
